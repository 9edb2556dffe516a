package admission_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/test/corpus"
)

// usageCluster is a ClusterQueue ordered by what LocalQueues used.
type usageCluster struct {
	config string // of admissionFairSharing
	cpu    int    // nominal quota
	// queue is the rest of the ClusterQueue's spec.
	queue string
	// localQueues by name: what stands in spec, and status.fairSharing.
	localQueues map[string][2]string
	jobs        []string // name and LocalQueue, in the order of creation
	workloads   string
}

const (
	halfLifeOfADay = "{usageHalfLifeTime: 24h, usageSamplingInterval: 5m}"
	usedOne        = "{weightedShare: 0, admissionFairSharingStatus: {consumedResources: {cpu: 1}, lastUpdate: '2026-01-01T00:00:00Z'}}"
	usedTwo        = "{weightedShare: 0, admissionFairSharingStatus: {consumedResources: {cpu: 2}, lastUpdate: '2026-01-01T00:00:00Z'}}"
	usedNothing    = "{weightedShare: 0, admissionFairSharingStatus: {consumedResources: {}, lastUpdate: '2026-01-01T00:00:00Z'}}"
	usedMemory     = "{weightedShare: 0, admissionFairSharingStatus: {consumedResources: {memory: 3}, lastUpdate: '2026-01-01T00:00:00Z'}}"
	notWritten     = "{weightedShare: 0}"
)

func (c usageCluster) engine(t *testing.T, version string) (*admission.Engine, corpus.Layers) {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, `
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
admissionFairSharing: %s
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: default, uid: f}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: a, uid: n}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: cq, uid: c}
spec:
  namespaceSelector: {}
  admissionScope: {admissionMode: UsageBasedAdmissionFairSharing}
  resourceGroups: [{coveredResources: [cpu], flavors: [{name: default, resources: [{name: cpu, nominalQuota: %d}]}]}]
%s
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: CohortList, items: []}
`, c.config, c.cpu, c.queue)
	if c.workloads == "" {
		c.workloads = "{apiVersion: kueue.x-k8s.io/v1beta2, kind: WorkloadList, items: []}"
	}
	b.WriteString("---\n" + c.workloads)
	for name, lq := range c.localQueues {
		fmt.Fprintf(&b, "\n---\n{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: %[1]s, namespace: a, uid: %[1]s}, "+
			"spec: {clusterQueue: cq%s}, status: {fairSharing: %s}}", name, lq[0], lq[1])
	}
	for i, job := range c.jobs {
		name, queue, _ := strings.Cut(job, " ")
		fmt.Fprintf(&b, "\n---\n{apiVersion: batch/v1, kind: Job, metadata: {name: %[1]s, namespace: a, uid: j%[1]s, "+
			"creationTimestamp: '2026-01-02T00:0%[2]d:00Z', labels: {kueue.x-k8s.io/queue-name: %[3]s}}, "+
			"spec: {suspend: true, template: {spec: {restartPolicy: Never, "+
			"containers: [{name: c, image: x, resources: {requests: {cpu: 1}}}]}}}}", name, i, queue)
	}
	l, err := corpus.Load("cluster.yaml", []byte(b.String()), config.Options{Version: version})
	if err != nil {
		t.Fatal(err)
	}
	return admission.New(l.Engine, l.Charges), l
}

// order lists the jobs that wait as they stand in the queue, and why that is not certain.
func (c usageCluster) order(t *testing.T, version string) (names []string, why string) {
	t.Helper()
	e, _ := c.engine(t, version)
	for _, waiting := range e.Waiting("cq") {
		names = append(names, waiting.Workload.OwnerRef.Name)
		why = cmp.Or(why, e.Position(waiting).Why)
	}
	return names, why
}

func TestOrderByWhatLocalQueuesUsed(t *testing.T) {
	const (
		priority  = "admission fair sharing orders the queue by what LocalQueues used lately, and "
		unwritten = priority + "the input does not tell what "
	)
	weight := func(w string) string { return ", fairSharing: {weight: '" + w + "'}" }
	two := []string{"first one", "second two"}
	for name, tc := range map[string]struct {
		cluster usageCluster
		version string // v0.19.2 unless set
		want    []string
		why     string
	}{
		"the LocalQueue that used less comes first": {
			cluster: usageCluster{localQueues: map[string][2]string{"one": {"", usedTwo}, "two": {"", usedOne}}},
			want:    []string{"second", "first"},
		},
		"as much: the earlier comes first": {
			cluster: usageCluster{localQueues: map[string][2]string{"one": {"", usedOne}, "two": {"", usedOne}}},
			want:    []string{"first", "second"},
		},
		"a weight divides": {
			cluster: usageCluster{localQueues: map[string][2]string{"one": {"", usedOne}, "two": {weight("4"), usedTwo}}},
			want:    []string{"second", "first"},
		},
		"a weight of zero comes last": {
			cluster: usageCluster{localQueues: map[string][2]string{"one": {weight("0"), usedNothing}, "two": {"", usedTwo}}},
			want:    []string{"second", "first"},
		},
		"nothing by zero came first": {
			cluster: usageCluster{localQueues: map[string][2]string{"one": {"", usedNothing}, "two": {weight("0"), usedNothing}}},
			version: "v0.19.0", want: []string{"second", "first"},
		},
		"something by zero came last": {
			cluster: usageCluster{localQueues: map[string][2]string{"one": {weight("0"), usedOne}, "two": {"", usedTwo}}},
			version: "v0.19.0", want: []string{"second", "first"},
		},
		"resources have weights": {
			cluster: usageCluster{
				config:      "{usageHalfLifeTime: 24h, usageSamplingInterval: 5m, resourceWeights: {memory: 0.1}}",
				localQueues: map[string][2]string{"one": {"", usedOne}, "two": {"", usedMemory}},
			},
			want: []string{"second", "first"},
		},
		"a resource without weight counts whole": {
			cluster: usageCluster{localQueues: map[string][2]string{"one": {"", usedOne}, "two": {"", usedMemory}}},
			want:    []string{"first", "second"},
		},
		"usage that is not written": {
			cluster: usageCluster{localQueues: map[string][2]string{"one": {"", usedTwo}, "two": {"", notWritten}}},
			want:    []string{"second", "first"}, why: unwritten + "a/two used",
		},
		"usage that is not written does not matter at a weight of zero": {
			cluster: usageCluster{localQueues: map[string][2]string{"one": {weight("0"), notWritten}, "two": {"", usedTwo}}},
			want:    []string{"second", "first"},
		},
		"usage that is not written is less than none by zero": {
			cluster: usageCluster{localQueues: map[string][2]string{"one": {weight("0"), usedNothing}, "two": {"", notWritten}}},
			want:    []string{"second", "first"},
		},
		"usage that is not written may be without bound, divided by zero": {
			cluster: usageCluster{localQueues: map[string][2]string{"one": {weight("0"), usedOne}, "two": {weight("0"), notWritten}}},
			version: "v0.19.0", want: []string{"second", "first"}, why: unwritten + "a/two used",
		},
		"usage that is not written may be less than nothing, divided by less than zero": {
			cluster: usageCluster{localQueues: map[string][2]string{"one": {weight("-1"), usedOne}, "two": {weight("-1"), notWritten}}},
			version: "v0.19.0", want: []string{"first", "second"}, why: unwritten + "a/two used",
		},
		"nothing is remembered without a half-life": {
			cluster: usageCluster{
				config:      "{usageHalfLifeTime: 0s, usageSamplingInterval: 5m}",
				localQueues: map[string][2]string{"one": {"", usedTwo}, "two": {"", notWritten}},
			},
			want: []string{"first", "second"},
		},
		"one LocalQueue needs no usage": {
			cluster: usageCluster{localQueues: map[string][2]string{"one": {"", notWritten}, "two": {"", usedTwo}}, jobs: []string{"first one", "second one"}},
			want:    []string{"first", "second"},
		},
		"penalties that may stay for ever": {
			cluster: usageCluster{
				queue:       "  admissionChecksStrategy: {admissionChecks: [{name: check}]}\n---\n{apiVersion: kueue.x-k8s.io/v1beta2, kind: AdmissionCheck, metadata: {name: check}, spec: {controllerName: c}, status: {conditions: [{type: Active, status: 'True', reason: R, message: m, lastTransitionTime: '2026-01-01T00:00:00Z'}]}}",
				localQueues: map[string][2]string{"one": {"", usedTwo}, "two": {"", usedOne}},
			},
			version: "v0.19.1", want: []string{"first", "second"},
			why: priority + "this version of Kueue may count penalties of workloads with admission checks for ever, and does not tell what a/one, a/two used",
		},
	} {
		t.Run(name, func(t *testing.T) {
			tc.cluster.cpu = 1
			tc.cluster.config = cmp.Or(tc.cluster.config, halfLifeOfADay)
			if tc.cluster.jobs == nil {
				tc.cluster.jobs = two
			}
			got, why := tc.cluster.order(t, cmp.Or(tc.version, "v0.19.2"))
			if diff := gocmp.Diff(tc.want, got); diff != "" || why != tc.why {
				t.Errorf("order (-want +got):\n%s\nnot certain: %q\nwant:        %q", diff, why, tc.why)
			}
		})
	}
}

// admitted lists the jobs that get quota in a simulation, those of which that is not known, and what is supposed.
func (c usageCluster) admitted(t *testing.T, replay bool) (admitted, unknown, supposed []string) {
	t.Helper()
	e, _ := c.engine(t, "v0.19.2")
	sim := e.Simulate(replay)
	for _, w := range sim.Workloads {
		switch w.State {
		case admission.Admitted:
			admitted = append(admitted, w.Charge.Workload.OwnerRef.Name)
		case admission.Unknown:
			unknown = append(unknown, w.Charge.Workload.OwnerRef.Name)
		}
	}
	slices.Sort(admitted)
	return admitted, unknown, sim.Assumptions
}

func TestSimulationByWhatLocalQueuesUsed(t *testing.T) {
	jobs := []string{"a1 one", "a2 one", "b1 two", "b2 two"}
	for name, tc := range map[string]struct {
		cpu           int
		one, two      string
		jobs          []string
		replay        bool
		want, unknown []string
		supposed      bool
	}{
		"the less used go first":                  {cpu: 2, one: usedTwo, two: usedOne, want: []string{"b1", "b2"}, supposed: true},
		"who enters pays":                         {cpu: 2, one: usedNothing, two: usedNothing, want: []string{"a1", "b1"}, supposed: true},
		"nobody knows":                            {cpu: 2, one: usedNothing, two: notWritten, unknown: jobs},
		"nobody knows, and there is room for all": {cpu: 4, one: usedNothing, two: notWritten, want: []string{"a1", "a2", "b1", "b2"}, supposed: true},
		"one alone needs no usage":                {cpu: 1, one: notWritten, two: usedNothing, jobs: jobs[:2], want: []string{"a1"}},
		"a replay begins with nothing":            {cpu: 1, one: usedTwo, two: notWritten, replay: true, want: []string{"a1"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := usageCluster{config: halfLifeOfADay, cpu: tc.cpu, jobs: tc.jobs, localQueues: map[string][2]string{"one": {"", tc.one}, "two": {"", tc.two}}}
			if c.jobs == nil {
				c.jobs = jobs
			}
			got, unknown, supposed := c.admitted(t, tc.replay)
			mark := func(names []string) (out []string) {
				for _, n := range names {
					n, _, _ = strings.Cut(n, " ")
					out = append(out, n)
				}
				return out
			}
			if diff := gocmp.Diff([][]string{tc.want, mark(tc.unknown)}, [][]string{got, unknown}); diff != "" {
				t.Errorf("admitted and unknown (-want +got):\n%s", diff)
			}
			if (len(supposed) > 0) != tc.supposed {
				t.Errorf("supposed: %q", supposed)
			}
		})
	}
}

// Of two workloads that may be preempted in one queue, that of the LocalQueue goes first that used more.
func TestVictimsByWhatLocalQueuesUsed(t *testing.T) {
	holder := func(name, queue string) string {
		return fmt.Sprintf(`
- metadata: {name: %[1]s, namespace: a, uid: w%[1]s, creationTimestamp: "2026-01-01T00:00:00Z", ownerReferences: [{apiVersion: batch/v1, kind: Job, name: %[1]s, uid: o%[1]s, controller: true}]}
  spec: {queueName: %[2]s, priority: 0, podSets: [{name: main, count: 1, template: {spec: {restartPolicy: Never, containers: [{name: c, image: x, resources: {requests: {cpu: 1}}}]}}}]}
  status:
    admission: {clusterQueue: cq, podSetAssignments: [{name: main, count: 1, flavors: {cpu: default}, resourceUsage: {cpu: 1}}]}
    conditions:
    - {type: QuotaReserved, status: "True", lastTransitionTime: "2025-12-31T00:00:00Z", reason: QuotaReserved, message: m}
    - {type: Admitted, status: "True", lastTransitionTime: "2025-12-31T00:00:00Z", reason: Admitted, message: m}`, name, queue)
	}
	workloads := "apiVersion: kueue.x-k8s.io/v1beta2\nkind: WorkloadList\nitems:" + holder("x", "one") + holder("y", "two") + `
- metadata: {name: high, namespace: a, uid: whigh, creationTimestamp: "2026-01-02T00:00:00Z", ownerReferences: [{apiVersion: batch/v1, kind: Job, name: high, uid: ohigh, controller: true}]}
  spec: {queueName: one, priority: 5, podSets: [{name: main, count: 1, template: {spec: {restartPolicy: Never, containers: [{name: c, image: x, resources: {requests: {cpu: 1}}}]}}}]}`
	for name, tc := range map[string]struct {
		one, two string
		want     string
	}{
		"one used more":  {usedTwo, usedOne, "x"},
		"two used more":  {usedOne, usedTwo, "y"},
		"nobody can say": {usedOne, notWritten, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := usageCluster{
				config: halfLifeOfADay, cpu: 2, queue: "  preemption: {withinClusterQueue: LowerPriority}",
				localQueues: map[string][2]string{"one": {"", tc.one}, "two": {"", tc.two}}, workloads: workloads,
			}
			e, l := c.engine(t, "v0.19.2")
			got := ""
			for _, w := range l.Charges {
				if w.Workload.Name != "high" {
					continue
				}
				d := e.Decide(w)
				if d.State == admission.Unknown && !strings.HasSuffix(d.Why, "the input does not tell what a/two used") {
					t.Errorf("unknown: %s", d.Why)
				}
				for _, victim := range d.Targets {
					got += victim.Charge.Workload.Name
				}
			}
			if got != tc.want {
				t.Errorf("preempts %q, want %q", got, tc.want)
			}
			if unknown := len(e.Simulate(false).Unknown); (unknown > 0) != (tc.want == "") {
				t.Errorf("the simulation says %d times that something is unknown", unknown)
			}
		})
	}
}

// TestExplainAndSimulateAgreeOnWhoIsFirst of a queue ordered by usage: where the position is certain, the simulation takes the
// first, and where it is not, the simulation does not say who gets the one place there is.
func TestExplainAndSimulateAgreeOnWhoIsFirst(t *testing.T) {
	statuses := []string{usedNothing, usedOne, usedTwo, usedMemory, notWritten}
	weights := []string{"", "0", "-1", "3"}
	spec := func(i int) string {
		if w := weights[i%len(weights)]; w != "" {
			return ", fairSharing: {weight: '" + w + "'}"
		}
		return ""
	}
	const step = 7 // of all pairs enough are tried
	pairs := len(statuses) * len(weights) * len(statuses) * len(weights)
	for _, version := range []string{"v0.19.0", "v0.19.2"} {
		for i := 0; i < pairs; i += step {
			one, two := i%(len(statuses)*len(weights)), i/(len(statuses)*len(weights))
			c := usageCluster{config: halfLifeOfADay, cpu: 1, jobs: []string{"first one", "second two"}, localQueues: map[string][2]string{
				"one": {spec(one), statuses[one/len(weights)]}, "two": {spec(two), statuses[two/len(weights)]},
			}}
			names, why := c.order(t, version)
			e, _ := c.engine(t, version)
			for _, w := range e.Simulate(false).Workloads {
				name, want := w.Charge.Workload.OwnerRef.Name, admission.Pending
				switch {
				case why != "":
					want = admission.Unknown
				case name == names[0]:
					want = admission.Admitted
				}
				if w.State != want {
					t.Errorf("%s, %v: the order is %v (%q), %s is %s, want %s", version, c.localQueues, names, why, name, w.State, want)
				}
			}
		}
	}
}
