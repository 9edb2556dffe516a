package fit

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/selector"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/source"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

// read makes a snapshot of documents, as an export of the whole cluster.
func read(t testing.TB, documents ...string) *cluster.Snapshot {
	t.Helper()
	b := cluster.NewBuilder(nil)
	for i, text := range documents {
		if err := source.ReadBytes(context.Background(), fmt.Sprintf("%d.yaml", i), []byte(text), b.Sink(cluster.InputOptions{})); err != nil {
			t.Fatal(err)
		}
	}
	snap := b.Build()
	for _, p := range snap.Problems {
		t.Fatal(p)
	}
	return snap
}

// pods is a pod set whose pods use claims, each NAME=TEMPLATE, or NAME=@CLAIM for a claim object.
func pods(name string, count int, claims ...string) workload.PodSet {
	template := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main"}}}}
	for _, c := range claims {
		as, object, _ := strings.Cut(c, "=")
		pc := corev1.PodResourceClaim{Name: as}
		if claim, ok := strings.CutPrefix(object, "@"); ok {
			pc.ResourceClaimName = &claim
		} else {
			pc.ResourceClaimTemplateName = &object
		}
		template.Spec.ResourceClaims = append(template.Spec.ResourceClaims, pc)
	}
	return workload.PodSet{Name: name, Count: int32(count), Template: template}
}

func changed(ps workload.PodSet, change func(*corev1.PodSpec)) workload.PodSet {
	ps.Template = ps.Template.DeepCopy()
	change(&ps.Template.Spec)
	return ps
}

func work(sets ...workload.PodSet) *workload.Workload {
	return &workload.Workload{Namespace: "team", Name: "w", PodSets: sets}
}

// said is a result in a few lines.
func said(r *Result) string {
	out := string(r.Verdict)
	if r.Why != "" {
		out += ": " + r.Why
	}
	if len(r.Missing) > 0 {
		out += " (missing " + strings.Join(r.Missing, ", ") + ")"
	}
	for _, ps := range r.PodSets {
		out += fmt.Sprintf("\n%s: %d of %d", ps.Name, ps.Placed, ps.Count)
		if ps.Holding > 0 {
			out += fmt.Sprintf(", %d hold theirs", ps.Holding)
		}
		for _, p := range ps.Placements {
			out += "\n  " + p.Node
			for _, d := range p.Devices {
				out += " " + d.Device
			}
		}
		for _, x := range ps.Refusals {
			out += fmt.Sprintf("\n  %s %s: %s", strings.Join(x.Nodes, ","), x.Code, x.Text)
			for _, ref := range x.HeldBy {
				out += "; " + ref.String()
			}
		}
	}
	return out
}

const (
	nodes = `apiVersion: v1
kind: Node
metadata: {name: n1, labels: {gpu: a}}
---
apiVersion: v1
kind: Node
metadata: {name: n2, labels: {gpu: b}}
`
	classes = `apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec:
  extendedResourceName: example.com/gpu
  selectors: [{cel: {expression: device.driver == "d"}}]
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: other}
spec: {selectors: [{cel: {expression: device.driver == "other"}}]}
`
	noClaims = `{apiVersion: resource.k8s.io/v1, kind: ResourceClaimList, items: []}`
)

// template is a ResourceClaimTemplate with the requests given; rest are further fields of the claim's devices.
func template(name, requests, rest string) string {
	return fmt.Sprintf("apiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {name: %s, namespace: team}\nspec:\n  spec:\n    devices:\n      requests: [%s]\n%s", name, requests, rest)
}

// templates that the cases use.
var templates = strings.Join([]string{
	template("one", `{name: r, exactly: {deviceClassName: gpu}}`, ""),
	template("two", `{name: r, exactly: {deviceClassName: gpu, count: 2}}`, ""),
	template("big", `{name: r, exactly: {deviceClassName: gpu, selectors: [{cel: {expression: 'device.attributes["d"].size == "big"'}}]}}`, ""),
	template("half", `{name: r, exactly: {deviceClassName: gpu, selectors: [{cel: {expression: 'device.attributes["d"].size == "half"'}}]}}`, ""),
	template("halves", `{name: r, exactly: {deviceClassName: gpu, count: 2, selectors: [{cel: {expression: 'device.attributes["d"].size == "half"'}}]}}`, ""),
	template("other", `{name: r, exactly: {deviceClassName: other}}`, ""),
	template("nowhere", `{name: r, exactly: {deviceClassName: nowhere}}`, ""),
	template("near", `{name: r, exactly: {deviceClassName: gpu, count: 2}}`, "      constraints: [{matchAttribute: d/numa}]\n"),
	template("either", `{name: r, firstAvailable: [{name: b, deviceClassName: gpu, selectors: [{cel: {expression: 'device.attributes["d"].size == "big"'}}]}, {name: s, deviceClassName: gpu, count: 3}]}`, ""),
	template("all", `{name: r, exactly: {deviceClassName: gpu, allocationMode: All}}`, ""),
	template("tolerant", `{name: r, exactly: {deviceClassName: gpu, tolerations: [{key: xid, operator: Exists}]}}`, ""),
	template("memory", `{name: r, exactly: {deviceClassName: gpu, capacity: {requests: {memory: 30Gi}}}}`, ""),
	template("admin", `{name: r, exactly: {deviceClassName: gpu, adminAccess: true}}`, ""),
}, "---\n")

// pool is a pool of one slice on a node, with devices.
func pool(node string, devices ...string) string {
	return slice(node, node, 1, "nodeName: "+node, "  devices:\n  - "+strings.Join(devices, "\n  - ")+"\n")
}

func slice(name, pool string, count int, where, rest string) string {
	return fmt.Sprintf("apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: %s}\nspec:\n  driver: d\n  %s\n  pool: {name: %s, generation: 1, resourceSliceCount: %d}\n%s", name, where, pool, count, rest)
}

// gpu is a device with a size, at a NUMA node; rest are more fields.
func gpu(name, size string, numa int, rest string) string {
	return fmt.Sprintf("{name: %s, attributes: {size: {string: %q}, numa: {int: %d}}%s}", name, size, numa, rest)
}

// counted is a GPU of n1 in counters and devices of one slice, as Kubernetes 1.34 has it: whole, or in halves.
var counted = slice("n1", "n1", 1, "nodeName: n1", `  sharedCounters:
  - {name: g, counters: {memory: {value: 40Gi}}}
  devices:
  - {name: whole, attributes: {size: {string: whole}}, consumesCounters: [{counterSet: g, counters: {memory: {value: 40Gi}}}]}
  - {name: half-0, attributes: {size: {string: half}}, consumesCounters: [{counterSet: g, counters: {memory: {value: 20Gi}}}]}
  - {name: half-1, attributes: {size: {string: half}}, consumesCounters: [{counterSet: g, counters: {memory: {value: 20Gi}}}]}
  - {name: half-2, attributes: {size: {string: half}}, consumesCounters: [{counterSet: g, counters: {memory: {value: 20Gi}}}]}
`)

// held is a claim that holds devices of a pool.
func held(name, pool, extra string, devices ...string) string {
	out := fmt.Sprintf("apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: %s, namespace: team}\nspec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}\nstatus:\n  allocation:\n    devices:\n      results:\n", name)
	for _, d := range devices {
		out += fmt.Sprintf("      - {request: r, driver: d, pool: %s, device: %s}\n", pool, d)
	}
	return out + extra
}

type fitCase struct {
	documents []string
	work      *workload.Workload
	assigned  map[string]Assignment
	want      string
}

func (tc fitCase) run(t *testing.T, o Options) *Result {
	t.Helper()
	snap := read(t, tc.documents...)
	return New(snap, device.NewInventory(snap, selector.Newest), o).Check(context.Background(), tc.work, tc.assigned)
}

func runCases(t *testing.T, tests map[string]fitCase) {
	t.Helper()
	for title, tc := range tests {
		t.Run(title, func(t *testing.T) {
			if diff := cmp.Diff(strings.TrimSpace(tc.want), said(tc.run(t, Options{}))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// base is everything but devices and claims.
var base = []string{nodes, classes, templates, noClaims}

func with(documents ...string) []string { return append(append([]string{}, base...), documents...) }

func TestPodsThatGetTheirDevices(t *testing.T) {
	a, b := pool("n1", gpu("a-0", "big", 0, ""), gpu("a-1", "small", 0, "")), pool("n2", gpu("b-0", "small", 0, ""))
	runCases(t, map[string]fitCase{
		"one after another, node after node": {documents: with(a, b), work: work(pods("main", 3, "gpu=one")), want: `
Fits
main: 3 of 3
  n1 a-0
  n1 a-1
  n2 b-0`},
		"by selector": {documents: with(a, b), work: work(pods("main", 1, "gpu=big")), want: `
Fits
main: 1 of 1
  n1 a-0`},
		"beside what others hold": {documents: with(a, b, held("x", "n1", "", "a-0", "a-1")), work: work(pods("main", 1, "gpu=one")), want: `
Fits
main: 1 of 1
  n2 b-0`},
		"several claims of a pod on one node": {documents: with(b, a), work: work(pods("main", 1, "x=one", "y=one")), want: `
Fits
main: 1 of 1
  n1 a-0 a-1`},
		"counters and devices in one slice": {documents: with(counted), work: work(pods("main", 2, "gpu=half")), want: `
Fits
main: 2 of 2
  n1 half-0
  n1 half-1`},
		"the second alternative": {documents: with(pool("n1", gpu("a", "small", 0, ""), gpu("b", "small", 0, ""), gpu("c", "small", 0, ""))), work: work(pods("main", 1, "gpu=either")), want: `
Fits
main: 1 of 1
  n1 a b c`},
		"admin access to what is held": {documents: with(b, held("x", "n2", "", "b-0")), work: work(pods("main", 2, "gpu=admin")), want: `
Fits
main: 2 of 2
  n2 b-0
  n2 b-0`},
		"an extended resource that a class stands for": {documents: with(a, b), work: work(changed(pods("main", 1), func(s *corev1.PodSpec) {
			s.Containers[0].Resources.Requests = corev1.ResourceList{"example.com/gpu": resource.MustParse("2")}
		})), want: `
Fits
main: 1 of 1
  n1 a-0 a-1`},
		"a taint that the claim tolerates": {documents: with(pool("n1", gpu("a-0", "big", 0, ", taints: [{key: xid, effect: NoSchedule}]"))), work: work(pods("main", 1, "gpu=tolerant")), want: `
Fits
main: 1 of 1
  n1 a-0`},
		"one claim for all pods": {documents: with(a, "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: c, namespace: team}\nspec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}\n"),
			work: work(pods("main", 2, "gpu=@c")), want: `
Fits
main: 2 of 2
  n1 a-0
  n1`},
		"a shared device has capacity for two": {documents: with(pool("n1", gpu("a-0", "big", 0, ", allowMultipleAllocations: true, capacity: {memory: {value: 80Gi}}"))), work: work(pods("main", 2, "gpu=memory")), want: `
Fits
main: 2 of 2
  n1 a-0
  n1 a-0`},
		"fewer pods are admitted": {documents: with(b), work: work(pods("main", 3, "gpu=one")), assigned: map[string]Assignment{"main": {Count: ptr.To[int32](1)}}, want: `
Fits
main: 1 of 1
  n2 b-0`},
		"no pod asks for devices": {documents: with(a), work: work(pods("main", 2)), want: `NotNeeded: no pod claims devices`},
		"a pod set without devices beside one that has them": {documents: with(a), work: work(pods("launcher", 1), pods("worker", 1, "gpu=one")), want: `
Fits
launcher: 1 of 1
worker: 1 of 1
  n1 a-0`},
		"in another order of the pod sets": {documents: with(pool("n1", gpu("a-0", "big", 0, ""), gpu("a-1", "small", 0, ""))), work: work(pods("any", 1, "gpu=one"), pods("big", 1, "gpu=big")), want: `
Fits
any: 1 of 1
  n1 a-1
big: 1 of 1
  n1 a-0`},
	})
}

func TestWhatCantBeTold(t *testing.T) {
	one := pool("n1", gpu("a-0", "small", 0, ""))
	runCases(t, map[string]fitCase{
		"claims are not in the input": {documents: []string{nodes, classes, templates, one}, work: work(pods("main", 1, "gpu=one")), want: `
Unknown: the devices would do, but claims that are not in the input may hold them (missing ResourceClaim)
main: 1 of 1
  n1 a-0`},
		"claims that are not in the input can't help": {documents: []string{nodes, classes, templates, one}, work: work(pods("main", 2, "gpu=one")), want: `
DoesNotFit
main: 1 of 2
  n1 a-0
  n1 Allocated: 1 of 1 devices match; 0 can be had, 1 is needed: 1 given to earlier pods of the workload
  n2 NoDevices: no devices are published for the node`},
		"nodes are not in the input": {documents: []string{classes, templates, noClaims, one}, work: work(pods("main", 1, "gpu=one")), want: `
Unknown: the devices would do, but whether the pods may use the nodes is not known (missing Node)
main: 1 of 1
  n1 a-0`},
		"nodes that are not in the input can't help": {documents: []string{classes, templates, noClaims, one}, work: work(pods("main", 1, "gpu=two")), want: `
DoesNotFit
main: 0 of 1
  n1 NoMatch: 1 of 1 devices match, 2 are needed`},
		"labels of nodes are not in the input": {documents: []string{classes, templates, noClaims, one}, work: work(changed(pods("main", 1, "gpu=one"), func(s *corev1.PodSpec) { s.NodeSelector = map[string]string{"gpu": "a"} })), want: `
Unknown: which nodes there are, and with which labels, is not known (missing Node)
main: 0 of 1
  n1 NodeSelector: the node lacks labels of the pod's node selector: gpu=a`},
		"templates are not in the input": {documents: []string{nodes, classes, noClaims, one}, work: work(pods("main", 1, "gpu=one")), want: `
Unknown: what the pods claim is not known (missing ResourceClaimTemplate)`},
		"classes are not in the input": {documents: []string{nodes, templates, noClaims, one}, work: work(pods("main", 1, "gpu=one")), want: `
Unknown: what the pods claim is not known (missing DeviceClass)`},
		"slices that contradict each other": {documents: with(slice("s1", "n1", 1, "nodeName: n1", "  devices: ["+gpu("a-0", "small", 0, "")+"]\n") + "---\n" + slice("s2", "n1", 2, "nodeName: n1", "")), work: work(pods("main", 1, "gpu=one")), want: `
Unknown: the slices of pool d/n1 state different numbers of slices, so whether it is complete depends on their order
main: 0 of 1
  n1 PoolUnusable: 1 of 1 devices match; 0 can be had, 1 is needed: 1 can't be used (pool n1: its slices state different numbers of slices)
  n2 NoDevices: no devices are published for the node`},
		"a device plugin": {documents: with(one, strings.Replace(strings.Split(nodes, "---\n")[0], "gpu: a}}", "gpu: a}}\nstatus: {allocatable: {example.com/gpu: \"4\"}}", 1)), work: work(changed(pods("main", 1), func(s *corev1.PodSpec) {
			s.Containers[0].Resources.Requests = corev1.ResourceList{"example.com/gpu": resource.MustParse("2")}
		})), want: `
Unknown: a device plugin serves some nodes, and what is free there is not looked at
main: 0 of 1
  n1 DevicePlugin: a device plugin serves example.com/gpu here; what it has free is not looked at
  n2 NoDevices: no devices are published for the node`},
		"pod sets that want different things of the same devices": {documents: with(pool("n1", gpu("a-0", "big", 0, ""), gpu("a-1", "small", 0, ""))), work: work(pods("big", 1, "gpu=big"), pods("two", 1, "gpu=two")), want: `
Unknown: placed in this order not all pods get devices; another choice of nodes might do
big: 1 of 1
  n1 a-0
two: 0 of 1
  n1 Allocated: 2 of 2 devices match; 1 can be had, 2 are needed: 1 given to earlier pods of the workload
  n2 NoDevices: no devices are published for the node`},
	})
}

func TestOneOfSeveralPodSetsCantFit(t *testing.T) {
	runCases(t, map[string]fitCase{"the second alone is too much": {
		documents: with(pool("n1", gpu("a-0", "big", 0, ""), gpu("a-1", "small", 0, ""))), work: work(pods("big", 1, "gpu=big"), pods("many", 3, "gpu=one")), want: `
DoesNotFit
big: 1 of 1
  n1 a-0
many: 1 of 3
  n1 a-1
  n1 Allocated: 2 of 2 devices match; 0 can be had, 1 is needed: 2 given to earlier pods of the workload
  n2 NoDevices: no devices are published for the node`}})
}

func TestTimeIsLimited(t *testing.T) {
	tc := fitCase{documents: with(pool("n1", gpu("a-0", "big", 0, ""))), work: work(pods("main", 1, "gpu=one"))}
	r := tc.run(t, Options{Limit: time.Nanosecond})
	if r.Verdict != Unknown || r.Why != "the time limit of 1ns is over" {
		t.Errorf("got %s", said(r))
	}
}
