package cluster

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster/crd"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/source"
)

func snapshot(t *testing.T, text string) *Snapshot {
	t.Helper()
	s, err := FromBytes(context.Background(), "in.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// get decodes one object and fails on any problem.
func get[T any](t *testing.T, text string, gk schema.GroupKind, namespace, name string) T {
	t.Helper()
	s := snapshot(t, text)
	for _, p := range s.Problems {
		t.Fatal(p)
	}
	v, _, ok := Lookup[T](s, gk, namespace, name)
	if !ok {
		t.Fatalf("no %s %s/%s", gk, namespace, name)
	}
	return v
}

func TestOldVersionsOfResourceAPI(t *testing.T) {
	want := resourcev1.DeviceRequest{Name: "gpu", Exactly: &resourcev1.ExactDeviceRequest{
		DeviceClassName: "mig.nvidia.com", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 2,
		Selectors: []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: "true"}}},
	}}
	for version, request := range map[string]string{
		"v1":      "{name: gpu, exactly: {deviceClassName: mig.nvidia.com, count: 2, selectors: [{cel: {expression: 'true'}}]}}",
		"v1beta2": "{name: gpu, exactly: {deviceClassName: mig.nvidia.com, count: 2, selectors: [{cel: {expression: 'true'}}]}}",
		"v1beta1": "{name: gpu, deviceClassName: mig.nvidia.com, count: 2, selectors: [{cel: {expression: 'true'}}]}",
	} {
		t.Run(version, func(t *testing.T) {
			got := get[*resourcev1.ResourceClaimTemplate](t, "{apiVersion: resource.k8s.io/"+version+
				", kind: ResourceClaimTemplate, metadata: {name: t, namespace: a}, spec: {spec: {devices: {requests: ["+request+"]}}}}", ResourceClaimTemplate, "a", "t")
			if diff := cmp.Diff(want, got.Spec.Spec.Devices.Requests[0]); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestOldResourceSlices(t *testing.T) {
	for version, device := range map[string]string{
		"v1":      "{name: d, attributes: {type: {string: mig}}, capacity: {memory: {value: 1Gi}}, consumesCounters: [{counterSet: c, counters: {memory: {value: 1Gi}}}]}",
		"v1beta2": "{name: d, attributes: {type: {string: mig}}, capacity: {memory: {value: 1Gi}}, consumesCounters: [{counterSet: c, counters: {memory: {value: 1Gi}}}]}",
		"v1beta1": "{name: d, basic: {attributes: {type: {string: mig}}, capacity: {memory: {value: 1Gi}}, consumesCounters: [{counterSet: c, counters: {memory: {value: 1Gi}}}]}}",
	} {
		t.Run(version, func(t *testing.T) {
			got := get[*DeviceSlice](t, "{apiVersion: resource.k8s.io/"+version+", kind: ResourceSlice, metadata: {name: s}, spec: {driver: d, nodeName: n1, pool: {name: p, generation: 1, resourceSliceCount: 1}, devices: ["+device+"]}}", ResourceSlice, "", "s")
			d := got.Spec.Devices[0]
			memory, counted := d.Capacity["memory"].Value, d.ConsumesCounters[0].Counters["memory"].Value
			if *got.Spec.NodeName != "n1" || *d.Attributes.Get("type").StringValue != "mig" || memory.String() != "1Gi" || counted.String() != "1Gi" {
				t.Errorf("got %+v", got.Spec)
			}
		})
	}
}

func TestOldVersionOfKueueAPI(t *testing.T) {
	cq := get[*kueue.ClusterQueue](t, `
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: cq}
spec:
  cohort: team
  admissionChecks: [check]
  flavorFungibility: {whenCanBorrow: Borrow, whenCanPreempt: Preempt}
`, ClusterQueue, "", "cq")
	if cq.Spec.CohortName != "team" || cq.Spec.AdmissionChecksStrategy.AdmissionChecks[0].Name != "check" ||
		cq.Spec.FlavorFungibility.WhenCanBorrow != kueue.MayStopSearch || cq.Spec.QueueingStrategy != kueue.BestEffortFIFO {
		t.Errorf("got %+v", cq.Spec)
	}
	wl := get[*kueue.Workload](t, `
apiVersion: kueue.x-k8s.io/v1beta1
kind: Workload
metadata: {name: wl, namespace: a}
spec: {queueName: q, priorityClassName: high, priorityClassSource: kueue.x-k8s.io/workloadpriorityclass, podSets: [{count: 3, template: {spec: {containers: []}}}]}
`, Workload, "a", "wl")
	if wl.Spec.PodSets[0].Name != "main" || wl.Spec.PodSets[0].Count != 3 || wl.Spec.PriorityClassRef.Name != "high" || !*wl.Spec.Active {
		t.Errorf("got %+v", wl.Spec)
	}
}

// What the API server fills in must be there in a manifest that never met one.
func TestDefaults(t *testing.T) {
	t.Run("a Job runs one pod at a time, once", func(t *testing.T) {
		j := get[*batchv1.Job](t, "{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {}}", Job, "default", "j")
		if *j.Spec.Parallelism != 1 || *j.Spec.Completions != 1 {
			t.Errorf("got %+v", j.Spec)
		}
	})
	t.Run("a Job with parallelism alone is a work queue", func(t *testing.T) {
		j := get[*batchv1.Job](t, "{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {parallelism: 4}}", Job, "default", "j")
		if *j.Spec.Parallelism != 4 || j.Spec.Completions != nil {
			t.Errorf("got %+v", j.Spec)
		}
	})
	t.Run("a Deployment has one replica", func(t *testing.T) {
		d := get[*appsv1.Deployment](t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {}}", Deployment, "default", "d")
		if *d.Spec.Replicas != 1 {
			t.Errorf("got %+v", d.Spec)
		}
	})
	t.Run("a Pod's limits are requests, a template's are not", func(t *testing.T) {
		spec := "containers: [{name: a, resources: {limits: {nvidia.com/gpu: 2, cpu: 1}, requests: {cpu: 500m}}}]"
		p := get[*corev1.Pod](t, "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {"+spec+"}}", Pod, "default", "p")
		requests := p.Spec.Containers[0].Resources.Requests
		if gpus := requests["nvidia.com/gpu"]; gpus.Value() != 2 || requests.Cpu().MilliValue() != 500 {
			t.Errorf("got %v", requests)
		}
		j := get[*batchv1.Job](t, "{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {template: {spec: {"+spec+"}}}}", Job, "default", "j")
		if _, ok := j.Spec.Template.Spec.Containers[0].Resources.Requests["nvidia.com/gpu"]; ok {
			t.Error("the template was completed too")
		}
	})
	t.Run("a Pod's own resources follow its containers, then its limits", func(t *testing.T) {
		p := get[*corev1.Pod](t, "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {resources: {limits: {cpu: 4, memory: 1Gi}}, containers: [{name: a, resources: {requests: {cpu: 2}}}]}}", Pod, "default", "p")
		if r := p.Spec.Resources.Requests; r.Cpu().Value() != 2 || r.Memory().Value() != 1<<30 {
			t.Errorf("got %v", r)
		}
	})
	t.Run("a device request is for exactly one", func(t *testing.T) {
		c := get[*resourcev1.ResourceClaimTemplate](t, "{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: t}, spec: {spec: {devices: {requests: [{name: a, exactly: {deviceClassName: c}}, {name: b, firstAvailable: [{name: s, deviceClassName: c}]}, {name: c, exactly: {deviceClassName: c, allocationMode: All}}]}}}}", ResourceClaimTemplate, "default", "t")
		requests := c.Spec.Spec.Devices.Requests
		if requests[0].Exactly.Count != 1 || requests[0].Exactly.AllocationMode != "ExactCount" || requests[1].FirstAvailable[0].Count != 1 || requests[2].Exactly.Count != 0 {
			t.Errorf("got %+v", requests)
		}
	})
	t.Run("kinds of CRDs have theirs", func(t *testing.T) {
		l := get[*crd.LeaderWorkerSet](t, "{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, metadata: {name: l}, spec: {}}", LeaderWorkerSet, "default", "l")
		if diff := cmp.Diff(ptr.To[int32](1), l.Spec.Replicas); diff != "" {
			t.Error(diff)
		}
	})
}

func TestWhichOfTwoObjectsCounts(t *testing.T) {
	job := func(version, image string) string {
		return "{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: a, uid: stored, resourceVersion: '" + version + "'}, spec: {template: {spec: {containers: [{name: " + image + "}]}}}}\n---\n"
	}
	const manifest = "{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: a}, spec: {template: {spec: {containers: [{name: laid}]}}}}"
	tests := map[string]struct {
		cluster, laid, want string
	}{
		"the newer resourceVersion, wherever it stands": {job("20", "new") + job("3", "old"), "", "new"},
		"the later one when neither tells":              {job("", "first") + job("", "second"), "", "second"},
		"what is laid over the cluster":                 {job("20", "stored"), manifest, "laid"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			b := NewBuilder(nil)
			ctx := context.Background()
			if err := source.ReadBytes(ctx, "cluster.yaml", []byte(tc.cluster), b.Sink(InputOptions{})); err != nil {
				t.Fatal(err)
			}
			if err := source.ReadBytes(ctx, "laid.yaml", []byte(tc.laid), b.Sink(InputOptions{Laid: true})); err != nil {
				t.Fatal(err)
			}
			s := b.Build()
			j, o, ok := Lookup[*batchv1.Job](s, Job, "a", "j")
			if !ok || j.Spec.Template.Spec.Containers[0].Name != tc.want {
				t.Fatalf("got %+v, want %s", j, tc.want)
			}
			// Applying a manifest keeps the identity of the object, so its Workload still belongs to it.
			if o.Meta.UID != "stored" || s.ByUID("stored") != o {
				t.Errorf("the object lost its UID: %q", o.Meta.UID)
			}
		})
	}
}

func TestCoverage(t *testing.T) {
	s := snapshot(t, "{apiVersion: resource.k8s.io/v1, kind: ResourceSliceList, items: []}\n---\n{apiVersion: v1, kind: Namespace, metadata: {name: a}}\n")
	for gk, want := range map[schema.GroupKind]bool{ResourceSlice: true, Namespace: true, DeviceClass: false} {
		if got := s.Coverage.Has(gk); got != want {
			t.Errorf("%s held: %v, want %v", gk, got, want)
		}
	}
	if why := s.Coverage.WhyMissing(DeviceClass); why != "none in the input" {
		t.Errorf("missing because %q", why)
	}
	b := NewBuilder(nil)
	if err := source.ReadBytes(context.Background(), "f.yaml", []byte("{apiVersion: v1, kind: Namespace, metadata: {name: a}}"), b.Sink(InputOptions{Laid: true})); err != nil {
		t.Fatal(err)
	}
	if s := b.Build(); s.Coverage.Has(Namespace) || s.Get(Namespace, "", "a") == nil {
		t.Error("an object laid over the cluster is there, and tells nothing of others")
	}
	b = NewBuilder(nil)
	if err := source.ReadBytes(context.Background(), "f.yaml", []byte("{apiVersion: v1, kind: Namespace, metadata: {name: a}}"), b.Sink(InputOptions{Laid: true, Whole: true})); err != nil {
		t.Fatal(err)
	}
	if s := b.Build(); !s.Coverage.Has(Namespace) {
		t.Error("without a cluster below them, the laid objects are all there is")
	}
	b = NewBuilder(nil)
	sink := b.Sink(InputOptions{Live: true})
	sink.Missing("resource.k8s.io", "ResourceSlice", source.NotServed)
	sink.Missing("kueue.x-k8s.io", "ClusterQueue", "forbidden: no")
	s = b.Build()
	if !s.Coverage.Has(ResourceSlice) || !s.Coverage.NotServed(ResourceSlice) || s.Coverage.Has(ClusterQueue) {
		t.Error("a kind that is not served has no objects; a forbidden one may have")
	}
	if diff := cmp.Diff([]string{"ClusterQueue.kueue.x-k8s.io: forbidden: no"}, s.Coverage.Forbidden()); diff != "" {
		t.Error(diff)
	}
}

func TestProblems(t *testing.T) {
	tests := map[string]struct{ in, want string }{
		"no name":                     {"{apiVersion: batch/v1, kind: Job, metadata: {}}", "in.yaml:1: Job has no metadata.name"},
		"a version that is not known": {"\n\n{apiVersion: batch/v2, kind: Job, metadata: {name: a}}", "in.yaml:3: Job: version batch/v2 is not supported"},
		"a value of the wrong type":   {"{apiVersion: batch/v1, kind: Job, metadata: {name: a}, spec: {parallelism: many}}", "in.yaml:1: Job can't be decoded: json: cannot unmarshal string"},
		"an absurd quantity":          {"{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: s}, spec: {devices: [{name: a, capacity: {m: {value: 1zz}}}]}}", "in.yaml:1: ResourceSlice can't be decoded: quantities must match"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := snapshot(t, tc.in+"\n---\n{apiVersion: batch/v1, kind: Job, metadata: {name: good}}")
			if len(s.Problems) != 1 || !strings.HasPrefix(s.Problems[0].String(), tc.want) {
				t.Errorf("problems %v, want %s", s.Problems, tc.want)
			}
			if s.Get(Job, "default", "good") == nil {
				t.Error("the rest was not used")
			}
		})
	}
}

// Names that differ from the API's only in case are other fields: the API server drops them.
func TestFieldNamesAreCaseSensitive(t *testing.T) {
	j := get[*batchv1.Job](t, "{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {Parallelism: 7}}", Job, "default", "j")
	if *j.Spec.Parallelism != 1 {
		t.Errorf("parallelism %d", *j.Spec.Parallelism)
	}
}
