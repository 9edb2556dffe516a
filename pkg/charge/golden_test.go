package charge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/selector"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

const (
	corpus   = "../../testdata/golden/scenarios"
	recorded = "../../testdata/recorded/scenarios"
)

// observation is what a running Kueue of one version made of a scenario.
type observation struct {
	Kueue        string
	FeatureGates map[string]bool
	Workloads    []observedWorkload
}

type observedWorkload struct {
	Namespace, Workload, Owner string
	Index                      *int
	PodSets                    []struct {
		Name  string
		Count int32
	}
	Admission *struct {
		PodSetAssignments []struct {
			Name          string
			Count         int64
			ResourceUsage map[corev1.ResourceName]resource.Quantity
		}
	}
	ResourceRequests []struct {
		Name      string
		Resources map[corev1.ResourceName]resource.Quantity
	}
	Conditions []struct{ Type, Status, Reason, Message string }
}

func (o observedWorkload) String() string { return o.Owner + " (" + o.Workload + ")" }

// refusal is the recorded message when Kueue's controller refused the workload.
func (o observedWorkload) refusal() string {
	for _, c := range o.Conditions {
		if c.Type == "QuotaReserved" && c.Status == "False" && (c.Reason == "Inadmissible" || c.Reason == "Misconfigured") {
			return c.Message
		}
	}
	return ""
}

// laterChanged tells that a queue's state, as the dump shows it, is not the one that the message is about:
// the queue was released later, or only a controller's status tells that its check is inactive.
func laterChanged(t *testing.T) bool {
	return strings.Contains(t.Name(), "/multi-queue-order-by-priority/") || strings.HasPrefix(t.Name(), "TestGoldenScenarios/check-inactive/")
}

// deviceRefusal tells that the message comes from the device path, not from a queue that changed later.
func deviceRefusal(message string) bool {
	return strings.Contains(message, "spec.podSets[") && !strings.HasPrefix(message, "resources ") ||
		strings.Contains(message, "KueueDRAIntegration") || strings.Contains(message, "DynamicResourceAllocation")
}

// TestGoldenCorpus holds the engine to what running Kueue decided, from the cluster dump without what
// the statuses of Workloads say of the charge, for every version recorded.
func TestGoldenCorpus(t *testing.T) {
	eachObservation(t, func(t *testing.T, dir string, o observation) {
		checkCharges(t, filepath.Join(dir, "dump.yaml"), o, func(w *kueue.Workload) {
			w.Status = kueue.WorkloadStatus{Conditions: w.Status.Conditions}
		})
	})
}

// TestGoldenCorpusWithoutStatuses takes away the conditions too. Where a dump holds no object of a kind
// at all, only they told that the one Kueue looked for did not exist.
func TestGoldenCorpusWithoutStatuses(t *testing.T) {
	onlyConditionsTell := []string{"cel-class-missing"}
	eachObservation(t, func(t *testing.T, dir string, o observation) {
		if slices.Contains(onlyConditionsTell, filepath.Base(dir)) {
			for _, c := range charges(t, filepath.Join(dir, "dump.yaml"), o, withoutStatus) {
				if c.Verdict == charge.Inadmissible {
					t.Errorf("%s: refused without evidence", c.Workload.Name)
				}
			}
			return
		}
		checkCharges(t, filepath.Join(dir, "dump.yaml"), o, withoutStatus)
	})
}

func withoutStatus(w *kueue.Workload) { w.Status = kueue.WorkloadStatus{} }

// TestGoldenScenarios does the same from the manifests alone: no API server ever saw them, and there are no Workloads.
func TestGoldenScenarios(t *testing.T) {
	eachObservation(t, func(t *testing.T, dir string, o observation) {
		if filepath.Base(dir) == "cel-class-missing" {
			return // as above: a manifest has no conditions
		}
		checkCharges(t, filepath.Join(dir, "scenario.yaml"), o, withoutStatus)
	})
}

func eachObservation(t *testing.T, check func(*testing.T, string, observation)) {
	var files []string
	for _, dir := range []string{corpus, recorded} {
		found, err := filepath.Glob(dir + "/*/observed-*.json")
		if err != nil || len(found) == 0 {
			t.Fatalf("no scenarios in %s: %v", dir, err)
		}
		files = append(files, found...)
	}
	for _, f := range files {
		name := filepath.Base(filepath.Dir(f)) + "/" + strings.TrimSuffix(strings.TrimPrefix(filepath.Base(f), "observed-"), ".json")
		t.Run(name, func(t *testing.T) {
			var o observation
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(data, &o); err != nil {
				t.Fatal(err)
			}
			check(t, filepath.Dir(f), o)
		})
	}
}

// charges runs the engine over one file.
func charges(t *testing.T, file string, o observation, strip func(*kueue.Workload)) []*charge.Charge {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	snap, err := cluster.FromBytes(context.Background(), file, data)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range snap.Problems {
		t.Errorf("problem: %s", p)
	}
	for _, w := range cluster.All[*kueue.Workload](snap, cluster.Workload) {
		strip(w)
	}
	cfg, err := config.Resolve(snap, config.Options{Version: o.Kueue, FeatureGates: o.FeatureGates})
	if err != nil {
		t.Fatal(err)
	}
	engine := charge.NewEngine(snap, cfg, device.NewInventory(snap, selector.Of(cfg.Behavior)))
	return engine.Charges(workload.Find(snap, cfg, workload.Options{}))
}

func checkCharges(t *testing.T, file string, o observation, strip func(*kueue.Workload)) {
	got := charges(t, file, o, strip)
	for _, want := range o.Workloads {
		c := pick(got, want)
		if c == nil {
			if filepath.Base(file) == "dump.yaml" || !slices.Contains(madeBySteps, filepath.Base(filepath.Dir(file))) {
				t.Errorf("%s: no charge", want)
			}
			continue
		}
		checkTotal(t, want, c)
		checkRefusal(t, want, c)
	}
}

// madeBySteps are scenarios with workloads that come from steps of the recording (pods made or sets
// scaled later), which a manifest does not hold.
var madeBySteps = []string{"kind-deployment-gpus", "kind-deployment-plain", "kind-lws-partial", "kind-raycluster-elastic-scaled"}

// pick finds the charge of an observed workload: by its owner, its replica, and its pod sets.
func pick(all []*charge.Charge, want observedWorkload) *charge.Charge {
	var named, shaped *charge.Charge
	for _, c := range all {
		w := c.Workload
		owner := w.OwnerRef.Kind + "/" + w.OwnerRef.Name
		if w.Namespace != want.Namespace || want.Owner != "" && owner != want.Owner || want.Owner == "" && w.Name != want.Workload {
			continue
		}
		if want.Index != nil && w.Index >= 0 && w.Index != *want.Index {
			continue
		}
		if w.Name == want.Workload {
			named = c
		}
		if shaped == nil && sameShape(w, want) {
			shaped = c
		}
	}
	if named != nil {
		return named
	}
	return shaped
}

func sameShape(w *workload.Workload, want observedWorkload) bool {
	if len(w.PodSets) != len(want.PodSets) {
		return false
	}
	for i, ps := range want.PodSets {
		if w.PodSets[i].Name != ps.Name || w.PodSets[i].Count != ps.Count {
			return false
		}
	}
	return true
}

func checkTotal(t *testing.T, want observedWorkload, c *charge.Charge) {
	if want.Admission == nil {
		for _, ps := range want.ResourceRequests {
			compare(t, want, c, ps.Name, -1, ps.Resources)
		}
		return
	}
	for _, ps := range want.Admission.PodSetAssignments {
		compare(t, want, c, ps.Name, ps.Count, ps.ResourceUsage)
	}
}

func compare(t *testing.T, want observedWorkload, c *charge.Charge, podSet string, count int64, usage map[corev1.ResourceName]resource.Quantity) {
	i := slices.IndexFunc(c.PodSets, func(p charge.PodSet) bool { return p.Name == podSet })
	if i < 0 {
		t.Errorf("%s: no pod set %s in %v", want, podSet, c.PodSets)
		return
	}
	got := c.PodSets[i].Totals
	if count >= 0 {
		got = c.PodSets[i].ScaledTo(count)
	}
	for _, name := range slices.Sorted(maps.Keys(usage)) {
		q := usage[name]
		wantUnits := q.Value()
		if name == corev1.ResourceCPU {
			wantUnits = q.MilliValue()
		}
		if got[name] != wantUnits {
			t.Errorf("%s: pod set %s: %s = %d, Kueue charged %s", want, podSet, name, got[name], q.String())
		}
	}
}

func checkRefusal(t *testing.T, want observedWorkload, c *charge.Charge) {
	message := want.refusal()
	if message == "" || !deviceRefusal(message) && laterChanged(t) {
		return
	}
	if c.Verdict != charge.Inadmissible {
		t.Errorf("%s: verdict %s, missing %v, Kueue refused: %s", want, c.Verdict, c.Missing, message)
		return
	}
	var said []string
	for _, p := range c.Problems {
		if p.KueueMessage == message || slices.Contains(p.Possible, message) {
			return
		}
		said = append(said, fmt.Sprintf("%s %q", p.Code, append([]string{p.KueueMessage}, p.Possible...)))
	}
	t.Errorf("%s: wrong words\n got %s\nwant %q", want, strings.Join(said, "\n     "), message)
}
