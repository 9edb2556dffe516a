package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	corev1 "k8s.io/api/core/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/test/e2e/controlplane"
)

const (
	kueueAPI = "kueue.x-k8s.io/v1beta2"
	// steadyFor is how long a decision must not change to count as Kueue's last word: it requeues once a second.
	steadyFor = 1500 * time.Millisecond
	// decidedWithin is how long Kueue may take for its last word.
	decidedWithin = 30 * time.Second
)

// want is what Kueue decides on a job, and so what the plugin must say.
type want struct {
	// state is the plugin's name for it.
	state string
	// charge is Kueue's, as it stands in the Workload.
	charge map[string]string
	// predicted is the state foreseen before the job was submitted; empty: the same as state.
	predicted string
	// message is Kueue's, in the QuotaReserved condition; empty where quota is reserved.
	message string
	// problem is the code of the refusal.
	problem string
	// unpublished tells that Kueue never says what it would charge.
	unpublished bool
}

// foreseen is the state predicted for the next attempt. What no quota can help is called inadmissible, though Kueue
// says of some of it that it is pending.
func (w want) foreseen() string {
	if w.problem != "" {
		return "Inadmissible"
	}
	return w.state
}

// scenario is a cluster and what is submitted to it, step by step.
type scenario struct {
	name string
	// kueue and cluster are files: the Configuration of Kueue, and what is there before the first job.
	kueue   string
	cluster []string
	steps   []step
}

// step is a file that is submitted, and where each job of the cluster stands afterwards.
type step struct {
	file string
	jobs map[string]want
}

func (s scenario) run(t *testing.T) {
	cp := sharedControlPlane(t, read(t, s.kueue))
	t.Cleanup(func() { clear(t, cp) })
	apply(t, cp, read(t, s.cluster...))
	awaitQueues(t, cp)
	for _, step := range s.steps {
		objects, err := controlplane.Objects([]byte(read(t, step.file)))
		if err != nil {
			t.Fatal(err)
		}
		foreseen := map[string]explanation{}
		for _, o := range objects {
			if o.GetKind() == "Job" {
				foreseen[o.GetName()] = explainFile(t, cp, step.file, o)
			}
		}
		apply(t, cp, read(t, step.file))
		for _, name := range slices.Sorted(maps.Keys(step.jobs)) {
			want := step.jobs[name]
			w := awaitDecision(t, cp, name, want)
			t.Run(name, func(t *testing.T) {
				if before, ok := foreseen[name]; ok {
					checkForeseen(t, before, want, w)
				}
				checkExplained(t, cp, name, want, w)
			})
		}
	}
}

func apply(t testing.TB, cp *controlplane.ControlPlane, text string) {
	t.Helper()
	if err := cp.Apply(short(t), []byte(text)); err != nil {
		t.Fatal(err)
	}
}

// explainFile explains a job that is not submitted yet.
func explainFile(t testing.TB, cp *controlplane.ControlPlane, file string, job *unstructured.Unstructured) explanation {
	t.Helper()
	return explainJob(t, cp, job.GetNamespace(), job.GetName(), "-f", file)
}

func explainJob(t testing.TB, cp *controlplane.ControlPlane, namespace, name string, args ...string) explanation {
	t.Helper()
	var list explanationList
	gpuQuota(t, cp, controlplane.Admin, &list, append([]string{"explain", "job/" + name, "-n", namespace}, args...)...)
	if len(list.Items) != 1 {
		t.Fatalf("explain job/%s gives %d explanations, want 1", name, len(list.Items))
	}
	return list.Items[0]
}

// checkForeseen compares what was said of a manifest with what came of it.
func checkForeseen(t *testing.T, before explanation, want want, w *kueue.Workload) {
	t.Helper()
	checkCharge(t, "before submission", before.Charge, want)
	state := want.foreseen()
	if want.predicted != "" {
		state = want.predicted
	}
	checkPredicted(t, "before submission", before.Predicted, state, w)
}

// checkExplained compares what is said of a job with its Workload.
func checkExplained(t *testing.T, cp *controlplane.ControlPlane, name string, want want, w *kueue.Workload) {
	t.Helper()
	e := explainJob(t, cp, w.Namespace, name)
	if e.Workload == nil || e.Workload.Name != w.Name {
		t.Errorf("the Workload is said to be %v, want %s", e.Workload, w.Name)
	}
	checkCharge(t, "afterwards", e.Charge, want)
	condition := conditionOf(w, kueue.WorkloadQuotaReserved)
	if e.Reported.State != want.state {
		t.Errorf("reported state %s, want %s", e.Reported.State, want.state)
	}
	if want.message != "" && (e.Reported.Message != condition.Message || e.Reported.Reason != condition.Reason) {
		t.Errorf("reported %s: %s\nwant     %s: %s", e.Reported.Reason, e.Reported.Message, condition.Reason, condition.Message)
	}
	if len(e.Inconsistencies) > 0 {
		t.Errorf("inconsistencies in a consistent cluster: %q", e.Inconsistencies)
	}
	checkPredicted(t, "afterwards", e.Predicted, want.foreseen(), w)
	if e.Agrees != nil && !*e.Agrees {
		t.Error("prediction and report are said to disagree")
	}
	var charges chargeList
	gpuQuota(t, cp, controlplane.Admin, &charges, "charge", "job/"+name, "-n", w.Namespace)
	if diff := cmp.Diff([]charge{e.Charge}, charges.Items); diff != "" {
		t.Errorf("charge differs from the charge in explain (-explain +charge):\n%s", diff)
	}
	if charges.Kueue.Version != distribution.Kueue || charges.Kueue.VersionSource != "image" {
		t.Errorf("Kueue %s by %s, want %s by image", charges.Kueue.Version, charges.Kueue.VersionSource, distribution.Kueue)
	}
	if diff := cmp.Diff(want.charge, publishedCharge(w), cmpopts.EquateEmpty()); diff != "" && !want.unpublished {
		t.Errorf("Kueue charges otherwise than this scenario is about (-want +Workload):\n%s", diff)
	}
}

// checkCharge compares a charge with Kueue's.
func checkCharge(t *testing.T, when string, c charge, want want) {
	t.Helper()
	verdict := "Charged"
	if want.problem != "" {
		verdict = "Inadmissible"
	}
	if c.Verdict != verdict {
		t.Errorf("%s: verdict %s, want %s (missing %q)", when, c.Verdict, verdict, c.Missing)
	}
	if diff := cmp.Diff(want.charge, c.Total, cmpopts.EquateEmpty()); diff != "" && want.charge != nil {
		t.Errorf("%s: charge (-Kueue +plugin):\n%s", when, diff)
	}
	if want.problem == "" {
		return
	}
	if len(c.Problems) == 0 || c.Problems[0].Code != want.problem {
		t.Errorf("%s: problems %v, want %s", when, c.Problems, want.problem)
		return
	}
	texts := append([]string{c.Problems[0].KueueMessage}, c.Problems[0].PossibleKueueMessages...)
	if !slices.Contains(texts, want.message) {
		t.Errorf("%s: Kueue's message is said to be one of %q, want %q", when, texts, want.message)
	}
}

// checkPredicted compares a prediction with Kueue's decision. Everything is there that it rests on, so there is one.
func checkPredicted(t *testing.T, when string, p prediction, state string, w *kueue.Workload) {
	t.Helper()
	if p.State != state {
		t.Errorf("%s: predicted %s (%s), want %s", when, p.State, p.Message, state)
		return
	}
	switch state {
	case "Pending", "Inadmissible":
		message := conditionOf(w, kueue.WorkloadQuotaReserved).Message
		if message != p.Message && !slices.Contains(p.PossibleMessages, message) {
			t.Errorf("%s: predicted message %q (or one of %q), want %q", when, p.Message, p.PossibleMessages, message)
		}
	case "Admitted":
		for i, a := range w.Status.Admission.PodSetAssignments {
			if i >= len(p.PodSets) {
				t.Errorf("%s: nothing is predicted for pod set %s", when, a.Name)
				continue
			}
			flavors := map[string]string{}
			for name, flavor := range a.Flavors {
				flavors[string(name)] = string(flavor)
			}
			if diff := cmp.Diff(flavors, p.PodSets[i].Flavors); diff != "" {
				t.Errorf("%s: flavors of pod set %s (-Kueue +predicted):\n%s", when, a.Name, diff)
			}
		}
	}
}

// awaitDecision waits until a job stands where it is meant to, and stays there.
func awaitDecision(t testing.TB, cp *controlplane.ControlPlane, job string, want want) *kueue.Workload {
	t.Helper()
	var w *kueue.Workload
	var since time.Time
	ctx, cancel := context.WithTimeout(t.Context(), decidedWithin)
	defer cancel()
	err := controlplane.Until(ctx, func(ctx context.Context) (err error) {
		if w, err = workloadOf(ctx, cp, job); err == nil {
			err = stands(w, want)
		}
		if err != nil {
			since = time.Time{}
			return err
		}
		if since.IsZero() {
			since = time.Now()
		}
		if time.Since(since) < steadyFor {
			return errors.New("not steady yet")
		}
		return nil
	})
	if err != nil {
		t.Fatalf("Kueue does not decide on job %s as this scenario is about: %v", job, err)
	}
	return w
}

// stands compares a Workload's conditions with a wanted state.
func stands(w *kueue.Workload, want want) error {
	reserved := conditionOf(w, kueue.WorkloadQuotaReserved)
	got := reserved.Reason
	switch {
	case reserved.Type == "":
		got = "Pending" // it was never looked at
	case conditionOf(w, kueue.WorkloadAdmitted).Status == metav1.ConditionTrue:
		got = "Admitted"
	case reserved.Status == metav1.ConditionTrue:
		got = "QuotaReserved"
	}
	if got != want.state || want.message != "" && want.message != reserved.Message {
		return fmt.Errorf("it is %s: %s", got, reserved.Message)
	}
	return nil
}

func conditionOf(w *kueue.Workload, kind string) metav1.Condition {
	for _, c := range w.Status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return metav1.Condition{}
}

// workloadOf finds the Workload of a job, in any namespace.
func workloadOf(ctx context.Context, cp *controlplane.ControlPlane, job string) (*kueue.Workload, error) {
	r, err := cp.Resource(kueueAPI, "Workload")
	if err != nil {
		return nil, controlplane.Stop(err)
	}
	list, err := r.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for _, o := range list.Items {
		owners := o.GetOwnerReferences()
		if len(owners) != 1 || owners[0].Kind != "Job" || owners[0].Name != job {
			continue
		}
		w := &kueue.Workload{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, w); err != nil {
			return nil, controlplane.Stop(err)
		}
		return w, nil
	}
	return nil, fmt.Errorf("job %s has no Workload", job)
}

// publishedCharge is what a Workload's status says it is charged: in use where quota is reserved, else asked for.
func publishedCharge(w *kueue.Workload) map[string]string {
	sum := corev1.ResourceList{}
	add := func(amounts corev1.ResourceList) {
		for name, q := range amounts {
			total := sum[name]
			total.Add(q)
			sum[name] = total
		}
	}
	for _, p := range w.Status.ResourceRequests {
		add(p.Resources)
	}
	if a := w.Status.Admission; a != nil {
		sum = corev1.ResourceList{}
		for _, p := range a.PodSetAssignments {
			add(p.ResourceUsage)
		}
	}
	out := map[string]string{}
	for name, q := range sum {
		out[string(name)] = q.String()
	}
	return out
}

// quantities writes amounts as the API server would.
func quantities(pairs ...string) map[string]string {
	out := map[string]string{}
	for i := 0; i+1 < len(pairs); i += 2 {
		q := resource.MustParse(pairs[i+1])
		out[pairs[i]] = q.String()
	}
	return out
}

// awaitQueues waits until Kueue has looked at every ClusterQueue, so that the first job meets them all.
func awaitQueues(t testing.TB, cp *controlplane.ControlPlane) {
	t.Helper()
	r, err := cp.Resource(kueueAPI, "ClusterQueue")
	if err != nil {
		t.Fatal(err)
	}
	err = controlplane.Until(short(t), func(ctx context.Context) error {
		list, err := r.List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, q := range list.Items {
			if conditions, _, _ := unstructured.NestedSlice(q.Object, "status", "conditions"); len(conditions) == 0 {
				return fmt.Errorf("Kueue has not looked at ClusterQueue %s", q.GetName())
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// walkthrough is a file of a documented walkthrough; fixture is one of this package's own.
func walkthrough(name, file string) string {
	return filepath.ToSlash(filepath.Join(root, "testdata", "walkthroughs", name, file))
}

func fixture(name string) string { return "testdata/" + name }

// write puts a text into a file of its own.
func write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
