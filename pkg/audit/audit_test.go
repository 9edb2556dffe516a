package audit_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/audit"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/test/corpus"
)

// fixture is the cluster in which little adds up, without objects of some kinds.
func fixture(t *testing.T, without ...string) *audit.Report {
	t.Helper()
	data, err := os.ReadFile("testdata/cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	l, err := corpus.Load("cluster.yaml", corpus.WithoutKinds(data, without...), config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range l.Snapshot.Problems {
		t.Errorf("problem: %s", p)
	}
	return of(l)
}

func TestDifferencesAreNamedWithTheirReason(t *testing.T) {
	got := map[string]audit.Reason{}
	for _, d := range fixture(t).Differences {
		got[d.Charge.Workload.Name+" "+string(d.Resource)] = d.Reason
	}
	want := map[string]audit.Reason{
		"job-net whole-gpus":     audit.Refused,
		"job-renamed old-gpus":   audit.MappingChanged,
		"job-renamed whole-gpus": audit.MappingChanged,
		"job-tune gpu.memory":    audit.TemplateReplaced,
		"job-wide whole-gpus":    audit.PodCount,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
}

func TestDevicesThatNoQuotaCounts(t *testing.T) {
	type use struct {
		Of, Why string
		Devices int64
	}
	got := map[string]use{}
	for _, u := range fixture(t).Uncounted {
		got[u.Object.String()] = use{u.Class + string(u.Resource), u.Why, u.Devices}
	}
	want := map[string]use{
		"Pod team-a/net-0": {"nic.example.com", "device class nic.example.com is mapped to no quota resource", 1},
		"Pod team-b/debug": {"gpu.example.comwhole-gpus", "no workload of Kueue's owns the pod", 1},
		"Pod team-b/shell": {"nvidia.com/gpu", "no workload of Kueue's owns the pod", 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("uncounted (-want +got):\n%s", diff)
	}
}

func TestIssues(t *testing.T) {
	got := map[audit.Kind]string{}
	for _, i := range fixture(t).Issues {
		got[i.Kind] += i.Object.String() + ";"
	}
	want := map[audit.Kind]string{
		audit.QuotaAboveHardware: "ResourceFlavor a100;ResourceFlavor h100;",
		audit.StrandedPartitions: "ResourceSlice a100-1-counters;",
		audit.NoClass:            " ;",
		audit.IdleQueue:          "ClusterQueue reserve;",
		audit.AdmittedPiecewise:  "Deployment team-a/serve;",
		audit.StatusDiffers:      "ClusterQueue team-a;",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("issues (-want +got):\n%s", diff)
	}
}

// TestWhatIsMissingIsUnknownNotZero takes kinds out of the input: the cells that rest on them are not known, with the kind
// that would tell, and nothing is said of them.
func TestWhatIsMissingIsUnknownNotZero(t *testing.T) {
	cell := func(r *audit.Report, of func(audit.Total) audit.Cell) map[string]bool {
		out := map[string]bool{}
		for _, x := range r.Totals {
			if x.Nominal > 0 {
				out[string(x.Resource)] = of(x).Known
			}
		}
		return out
	}
	all := func(known bool) map[string]bool {
		return map[string]bool{"gpu.memory": known, "whole-gpus": known, "nvidia.com/gpu": known}
	}
	for without, tc := range map[string]struct {
		column audit.Column
		of     func(audit.Total) audit.Cell
		want   map[string]bool
	}{
		"":              {"", func(x audit.Total) audit.Cell { return x.Published }, all(true)},
		"ResourceClaim": {audit.ColumnAllocated, func(x audit.Total) audit.Cell { return x.Allocated }, all(false)},
		"Pod":           {audit.ColumnAllocated, func(x audit.Total) audit.Cell { return x.Allocated }, all(false)},
		"Node":          {audit.ColumnPublished, func(x audit.Total) audit.Cell { return x.Published }, all(false)},
		"ResourceSlice": {audit.ColumnPublished, func(x audit.Total) audit.Cell { return x.Published },
			map[string]bool{"gpu.memory": false, "whole-gpus": false, "nvidia.com/gpu": true}},
		"DeviceClass":           {audit.ColumnPublished, func(x audit.Total) audit.Cell { return x.Published }, all(false)},
		"ResourceFlavor":        {audit.ColumnPublished, func(x audit.Total) audit.Cell { return x.Published }, all(false)},
		"ResourceClaimTemplate": {audit.ColumnRecomputed, func(x audit.Total) audit.Cell { return x.Recomputed }, all(false)},
		"Workload":              {audit.ColumnRecomputed, func(x audit.Total) audit.Cell { return x.Recomputed }, all(false)},
	} {
		t.Run("without "+without, func(t *testing.T) {
			r := fixture(t, without)
			if diff := cmp.Diff(tc.want, cell(r, tc.of)); diff != "" {
				t.Errorf("known (-want +got):\n%s", diff)
			}
			named := without == ""
			for _, u := range r.Unknown {
				for _, kind := range u.Missing {
					named = named || u.Column == tc.column && kind == without
				}
			}
			if !named {
				t.Errorf("nothing says that %s is missing for %s: %+v", without, tc.column, r.Unknown)
			}
		})
	}
}
