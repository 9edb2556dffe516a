package report

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/audit"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/pipeline"
	"github.com/gpu-quota/kubectl-gpu-quota/test/corpus"
)

// auditOf audits the layers over one input, with findings of some rules.
func auditOf(t *testing.T, l corpus.Layers, all bool) *Audit {
	t.Helper()
	rules := someRules()
	result, err := lint.Run(context.Background(), lint.Input{Snapshot: l.Snapshot, Config: l.Config, Files: 1}, lint.Options{Rules: rules})
	if err != nil {
		t.Fatal(err)
	}
	in := audit.Input{Layers: pipeline.New(l.Snapshot, l.Config), Findings: result, AllResources: all}
	return NewAudit(audit.New(in), rules, "v1.2.3")
}

// auditFixture is the audit of the cluster in which little adds up, less the documents of some kinds.
func auditFixture(t *testing.T, without ...string) *Audit {
	t.Helper()
	return auditOf(t, auditLayers(t, without...), false)
}

func auditLayers(t *testing.T, without ...string) corpus.Layers {
	t.Helper()
	data, err := os.ReadFile("../audit/testdata/cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	l, err := corpus.Load("cluster.yaml", corpus.WithoutKinds(data, without...), config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func printedAudit(t *testing.T, d *Audit, o Options) []byte {
	t.Helper()
	p, err := NewAuditPrinter(o)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := p.Print(&out, d); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestScreensOfAudits(t *testing.T) {
	for name, tc := range map[string]struct {
		without []string
		o       Options
	}{
		"text.txt":         {},
		"narrow.txt":       {o: Options{Terminal: Terminal{Width: 60}}},
		"ascii.txt":        {o: Options{Terminal: Terminal{ASCII: true}}},
		"color.txt":        {o: Options{Terminal: Terminal{Color: true}}},
		"no-workloads.txt": {without: []string{"Workload", "Pod", "ReplicaSet"}},
		"no-devices.txt":   {without: []string{"ResourceSlice", "ResourceClaim", "DeviceClass", "Node"}},
		"no-queues.txt":    {without: []string{"ClusterQueue", "Cohort"}},
		"audit.json":       {o: Options{Format: "json"}},
		"audit.yaml":       {o: Options{Format: "yaml"}},
		"audit.csv":        {o: Options{Format: "csv"}},
		"audit.md":         {o: Options{Format: "markdown"}},
		"audit.html":       {o: Options{Format: "html"}},
		"name.txt":         {o: Options{Format: "name"}},
	} {
		t.Run(name, func(t *testing.T) {
			golden(t, filepath.Join("audit", name), printedAudit(t, auditFixture(t, tc.without...), tc.o))
		})
	}
}

// changedFixture is the audit with what has changed since the cluster lacked some kinds.
func changedFixture(t *testing.T) *Audit {
	t.Helper()
	d := auditFixture(t)
	d.Since("older.yaml", d.report.Compare(auditFixture(t, "Cohort", "ReplicaSet", "ResourceClaim").report))
	return d
}

func TestScreensOfWhatChanged(t *testing.T) {
	same := auditFixture(t)
	same.Since("older.yaml", same.report.Compare(same.report))
	for name, tc := range map[string]struct {
		d      *Audit
		format string
	}{
		"changed.txt":  {d: changedFixture(t)},
		"changed.json": {d: changedFixture(t), format: "json"},
		"changed.md":   {d: changedFixture(t), format: "markdown"},
		"same.txt":     {d: same},
	} {
		t.Run(name, func(t *testing.T) {
			golden(t, filepath.Join("audit", name), printedAudit(t, tc.d, Options{Format: tc.format}))
		})
	}
	valid(t, compiled(t, filepath.Join(schemaDir, "auditreport.json")), printedAudit(t, changedFixture(t), Options{Format: "json"}))
}

func TestAuditsKeepToTheirSchema(t *testing.T) {
	schema := compiled(t, filepath.Join(schemaDir, "auditreport.json"))
	for _, without := range [][]string{nil, {"Workload"}, {"ClusterQueue", "Cohort"}, {"ResourceSlice"}} {
		printed := printedAudit(t, auditFixture(t, without...), Options{Format: "json"})
		valid(t, schema, printed)
		decoder := json.NewDecoder(bytes.NewReader(printed))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&AuditReport{}); err != nil {
			t.Error(err)
		}
	}
}

// TestTheLedgerSaysWhatQueuesSays compares the JSON of both commands on every recorded cluster, field by field.
func TestTheLedgerSaysWhatQueuesSays(t *testing.T) {
	compared := 0
	corpus.Each(t, "../..", func(t *testing.T, o corpus.Observation) {
		l := o.Load(t, o.Dump(t))
		var queues QueueList
		var report AuditReport
		parse(t, printed(t, NewQueues(l.Config, admission.New(l.Engine, l.Charges).Trees(), nil), "json", Terminal{}), &queues)
		parse(t, printedAudit(t, auditOf(t, l, true), Options{Format: "json"}), &report)
		got := map[[4]string]LedgerRow{}
		for _, row := range report.Ledger {
			got[[4]string{row.Kind, row.Name, row.Flavor, row.Resource}] = row
		}
		compare := func(kind, name string, totals QueueTotals) {
			for _, a := range totals.Quota {
				compared++
				row := got[[4]string{kind, name, a.Flavor, a.Resource}]
				said := []string{row.Nominal, row.Total, text(row.Reserved), text(row.Admitted), text(row.Borrowed), text(row.Lent), text(row.LentAtMost)}
				if want := []string{a.Nominal, a.Total, a.Reserved, a.Admitted, a.Borrowed, a.Lent, a.LentAtMost}; !slices.Equal(want, said) {
					t.Errorf("%s %s, %s in %s: queues says %q, audit %q", kind, name, a.Resource, a.Flavor, want, said)
				}
			}
			for resource, amount := range totals.Demand {
				row := got[[4]string{kind, name, "", resource}]
				if cmp.Or(text(row.Pending), amount) != amount {
					t.Errorf("%s %s: %s of %s pending, audit says %s", kind, name, amount, resource, text(row.Pending))
				}
			}
		}
		for _, q := range queues.Items {
			compare("ClusterQueue", q.Name, q.QueueTotals)
		}
		for _, c := range queues.Cohorts {
			compare("Cohort", c.Name, c.QueueTotals)
		}
	})
	if compared < 500 {
		t.Errorf("only %d accounts were compared", compared)
	}
}

func parse(t *testing.T, data []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

// text is a cell as queues has it: empty when it is not known.
func text(v *string) string {
	if v == nil {
		return ""
	}
	return *v
}
