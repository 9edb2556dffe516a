package admission

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueueconf"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

// load is a cluster to decide about: queues in cohorts, with two flavors each, and workloads of one or two pod sets.
type load struct {
	queues, cohorts            int
	pending, running, finished int
	// distinct gives every pending workload requests of its own, so that the failure of one tells nothing of another.
	distinct bool
	// preempting: half of the pending workloads are of a higher priority than those that run, and policies allow preemption.
	preempting bool
	fair       bool
	// nested puts pairs of cohorts below a common one.
	nested bool
}

// judged is the cluster of the promise: 10,000 pending workloads on 200 queues in 8 cohorts.
var judged = load{queues: 200, cohorts: 8, pending: 10000, running: 800}

// engine builds the engine of a load, once for a benchmark.
func (l load) engine(tb testing.TB) *Engine {
	tb.Helper()
	snap, err := cluster.FromBytes(context.Background(), "load.json", l.export(tb))
	if err != nil || len(snap.Problems) > 0 {
		tb.Fatal(err, snap.Problems)
	}
	conf, err := kueueconf.Resolve(snap, kueueconf.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	engine := charge.NewEngine(snap, conf, device.NewInventory(snap))
	return New(engine, engine.Charges(workload.Find(snap, conf, workload.Options{})))
}

// export is the load as `kubectl get -o json` prints it.
func (l load) export(tb testing.TB) []byte {
	tb.Helper()
	items := []any{l.config(), &corev1.Namespace{TypeMeta: typeMeta("v1", "Namespace"), ObjectMeta: metav1.ObjectMeta{Name: "team"}},
		map[string]any{"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": map[string]any{"name": "gpu"}, "spec": map[string]any{}}}
	for _, f := range []string{"new", "old"} {
		items = append(items, &kueue.ResourceFlavor{TypeMeta: typeMeta(kueueVersion, "ResourceFlavor"), ObjectMeta: metav1.ObjectMeta{Name: f}})
	}
	for c := range l.cohorts {
		parent := ""
		if l.nested {
			parent = fmt.Sprintf("above-%d", c/2)
		}
		items = append(items, &kueue.Cohort{TypeMeta: typeMeta(kueueVersion, "Cohort"), ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("cohort-%d", c)},
			Spec: kueue.CohortSpec{ParentName: kueue.CohortReference(parent)}})
	}
	for q := range l.queues {
		items = append(items, l.queue(q), &kueue.LocalQueue{TypeMeta: typeMeta(kueueVersion, "LocalQueue"),
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("q%03d", q), Namespace: "team"}, Spec: kueue.LocalQueueSpec{ClusterQueue: kueue.ClusterQueueReference(fmt.Sprintf("q%03d", q))}})
	}
	for i := range l.finished + l.running + l.pending {
		items = append(items, l.workload(i))
	}
	out, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

const kueueVersion = "kueue.x-k8s.io/v1beta2"

func typeMeta(version, kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: version, Kind: kind}
}

func (l load) config() any {
	c := map[string]any{"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration"}
	if l.fair {
		c["fairSharing"] = map[string]any{"preemptionStrategies": []string{"LessThanOrEqualToFinalShare", "LessThanInitialShare"}}
	}
	return c
}

func (l load) queue(q int) *kueue.ClusterQueue {
	out := &kueue.ClusterQueue{TypeMeta: typeMeta(kueueVersion, "ClusterQueue"), ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("q%03d", q)}}
	out.Spec.CohortName = kueue.CohortReference(fmt.Sprintf("cohort-%d", q%l.cohorts))
	out.Spec.NamespaceSelector = &metav1.LabelSelector{}
	if l.preempting {
		out.Spec.Preemption = &kueue.ClusterQueuePreemption{WithinClusterQueue: kueue.PreemptionPolicyLowerPriority, ReclaimWithinCohort: kueue.PreemptionPolicyAny}
	}
	group := kueue.ResourceGroup{CoveredResources: []corev1.ResourceName{"cpu", "nvidia.com/gpu"}}
	for f, name := range []string{"new", "old"} {
		group.Flavors = append(group.Flavors, kueue.FlavorQuotas{Name: kueue.ResourceFlavorReference(name), Resources: []kueue.ResourceQuota{
			{Name: "cpu", NominalQuota: resource.MustParse("400")},
			{Name: "nvidia.com/gpu", NominalQuota: *resource.NewQuantity(int64(16+8*f), resource.DecimalSI)},
		}})
	}
	out.Spec.ResourceGroups = []kueue.ResourceGroup{group}
	return out
}

// workload number i: the finished come first, then those that run, then those that wait.
func (l load) workload(i int) *kueue.Workload {
	began := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	q := fmt.Sprintf("q%03d", i%l.queues)
	w := &kueue.Workload{TypeMeta: typeMeta(kueueVersion, "Workload"), ObjectMeta: metav1.ObjectMeta{
		Namespace: "team", Name: fmt.Sprintf("w%06d", i), UID: types.UID(fmt.Sprintf("uid-%06d", i)), CreationTimestamp: metav1.NewTime(began.Add(time.Duration(i) * time.Second)),
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: fmt.Sprintf("job-%06d", i), UID: types.UID(fmt.Sprintf("job-%06d", i)), Controller: new(true)}},
	}}
	w.Spec.QueueName, w.Spec.Active, w.Spec.Priority = kueue.LocalQueueName(q), new(true), new(int32(0))
	gpus, milli := int64(1+i/l.queues%4*2), int64(1000)
	waits := i >= l.finished+l.running
	if waits && l.distinct {
		milli += int64(i)
	}
	if waits && l.preempting {
		*w.Spec.Priority = int32(i / l.queues % 2 * 100)
	}
	w.Spec.PodSets = []kueue.PodSet{podSetOf("main", 1, milli, gpus)}
	if i%5 == 0 {
		w.Spec.PodSets = append(w.Spec.PodSets, podSetOf("driver", 1, 500, 0))
	}
	if !waits {
		l.admit(w, q, gpus)
	}
	if i < l.finished {
		w.Status.Conditions = append(w.Status.Conditions, condition(kueue.WorkloadFinished, began))
	}
	return w
}

func podSetOf(name string, count int32, milli, gpus int64) kueue.PodSet {
	requests := corev1.ResourceList{"cpu": *resource.NewMilliQuantity(milli, resource.DecimalSI)}
	if gpus > 0 {
		requests["nvidia.com/gpu"] = *resource.NewQuantity(gpus, resource.DecimalSI)
	}
	return kueue.PodSet{Name: kueue.PodSetReference(name), Count: count, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{Requests: requests}}}}}}
}

func (l load) admit(w *kueue.Workload, queue string, gpus int64) {
	w.Status.Admission = &kueue.Admission{ClusterQueue: kueue.ClusterQueueReference(queue)}
	for i := range w.Spec.PodSets {
		requests := w.Spec.PodSets[i].Template.Spec.Containers[0].Resources.Requests
		a := kueue.PodSetAssignment{Name: w.Spec.PodSets[i].Name, Count: new(int32(1)), Flavors: map[corev1.ResourceName]kueue.ResourceFlavorReference{}, ResourceUsage: requests}
		for name := range requests {
			a.Flavors[name] = "new"
		}
		w.Status.Admission.PodSetAssignments = append(w.Status.Admission.PodSetAssignments, a)
	}
	at := w.CreationTimestamp.Time
	w.Status.Conditions = []metav1.Condition{condition(kueue.WorkloadQuotaReserved, at), condition(kueue.WorkloadAdmitted, at)}
}

func condition(name string, at time.Time) metav1.Condition {
	return metav1.Condition{Type: name, Status: metav1.ConditionTrue, Reason: name, LastTransitionTime: metav1.NewTime(at)}
}

// BenchmarkSimulate runs the cluster of the promise in its variants until nothing changes.
func BenchmarkSimulate(b *testing.B) {
	for _, of := range []struct {
		name string
		with func(*load)
	}{
		{"equal", func(*load) {}},
		{"distinct", func(l *load) { l.distinct = true }},
		{"preempting", func(l *load) { l.preempting = true }},
		{"preempting-distinct", func(l *load) { l.preempting, l.distinct = true, true }},
		{"preempting-distinct-nested", func(l *load) { l.preempting, l.distinct, l.nested = true, true, true }},
		{"fair", func(l *load) { l.fair, l.preempting = true, true }},
		{"fair-distinct", func(l *load) { l.fair, l.preempting, l.distinct = true, true, true }},
		{"fair-distinct-nested", func(l *load) { l.fair, l.preempting, l.distinct, l.nested = true, true, true, true }},
		{"replay", func(l *load) {}},
		{"replay-preempting-distinct", func(l *load) { l.preempting, l.distinct = true, true }},
	} {
		b.Run(of.name, func(b *testing.B) {
			l := judged
			of.with(&l)
			e := l.engine(b)
			cycles := 0
			b.ReportAllocs()
			for b.Loop() {
				cycles = len(e.Simulate(strings.HasPrefix(of.name, "replay")).Timeline)
			}
			b.ReportMetric(float64(cycles), "cycles")
		})
	}
}

// BenchmarkCycleBesideFinishedWorkloads runs the same cycles beside more and more workloads that have ended. The time
// for each cycle, without that for reading the input, must not grow.
func BenchmarkCycleBesideFinishedWorkloads(b *testing.B) {
	for _, finished := range []int{0, 10000, 40000} {
		b.Run(fmt.Sprintf("finished=%d", finished), func(b *testing.B) {
			l := load{queues: 200, cohorts: 8, pending: 2000, running: 800, finished: finished, distinct: true}
			e := l.engine(b)
			cycles := 0
			for b.Loop() {
				b.StopTimer()
				s, _ := e.state(false)
				r := newRun(s)
				b.StartTimer()
				for _, it := range s.items {
					if it.state == Pending {
						r.enqueue(it)
					}
				}
				r.settle()
				cycles = len(r.timeline)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(cycles), "ns/cycle")
		})
	}
}

// BenchmarkDecide asks about one workload after another in the cluster of the promise.
func BenchmarkDecide(b *testing.B) {
	for _, fair := range []bool{false, true} {
		b.Run(fmt.Sprintf("fair=%t", fair), func(b *testing.B) {
			l := judged
			l.preempting, l.distinct, l.fair = true, true, fair
			e := l.engine(b)
			e.Decide(e.charges[0])
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				i = (i + 997) % len(e.charges)
				e.Decide(e.charges[i])
			}
		})
	}
}
