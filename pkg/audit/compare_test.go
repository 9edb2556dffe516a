package audit_test

import (
	"slices"
	"testing"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/audit"
)

// TestAReportHasNotChangedSinceItself, whatever is unknown in it.
func TestAReportHasNotChangedSinceItself(t *testing.T) {
	for _, without := range []string{"", "Workload", "ResourceSlice", "ResourceClaim", "Node"} {
		c := fixture(t, without).Compare(fixture(t, without))
		if len(c.Rows)+len(c.Devices)+len(c.New)+len(c.Gone) > 0 {
			t.Errorf("without %s: %+v", without, c)
		}
	}
}

// TestCompareMirrors: what appears one way disappears the other way, and every amount swaps its sides.
func TestCompareMirrors(t *testing.T) {
	now, old := fixture(t), fixture(t, "ReplicaSet", "ResourceClaim", "Cohort")
	there, back := now.Compare(old), old.Compare(now)
	if !slices.Equal(there.New, back.Gone) || !slices.Equal(there.Gone, back.New) {
		t.Errorf("new %v\ngone %v", there.New, back.Gone)
	}
	if len(there.Rows) != len(back.Rows) || len(there.Rows) == 0 {
		t.Fatalf("%d rows changed one way and %d the other", len(there.Rows), len(back.Rows))
	}
	sides := map[string][2]audit.Cell{}
	keyOf := func(c audit.RowChange) string {
		return c.Row.Node.Name + " " + c.Row.Flavor + " " + string(c.Row.Resource) + " " + c.Column
	}
	for _, c := range there.Rows {
		sides[keyOf(c)] = [2]audit.Cell{c.Before, c.After}
	}
	for _, c := range back.Rows {
		if sides[keyOf(c)] != [2]audit.Cell{c.After, c.Before} {
			t.Errorf("%s: %v one way, %v and %v the other", keyOf(c), sides[keyOf(c)], c.Before, c.After)
		}
	}
}

// TestWhatIsNotKnownAnyMoreIsTold: an amount that is unknown in one report is no zero in the comparison.
func TestWhatIsNotKnownAnyMoreIsTold(t *testing.T) {
	c := fixture(t, "ResourceClaim").Compare(fixture(t))
	found := false
	for _, x := range c.Rows {
		found = found || x.Column == "allocated" && x.Row.Node.Name == "team-a" && x.Before.Known && x.Before.Amount > 0 && !x.After.Known && x.Presence == audit.Changed
	}
	if !found {
		t.Errorf("no change tells that allocated of team-a is not known any more: %+v", c.Rows)
	}
}
