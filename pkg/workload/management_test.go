package workload

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	team       = "\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: team, labels: {quota: kueue}}\n"
	otherTeam  = "\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: team, labels: {quota: none}}\n"
	byLabel    = "managedJobsNamespaceSelector: {matchLabels: {quota: kueue}}\n"
	unlabelled = "manageJobsWithoutQueueName: true\n"
	lqDefault  = "\n---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: default, namespace: team}\nspec: {clusterQueue: c}\n"
	jobSpec    = "spec: {template: {spec: {containers: [{name: main}]}}}"
	podSpec    = "spec: {containers: [{name: main}]}"
)

// configuration with some frameworks and more lines.
func configuration(frameworks string, more ...string) string {
	return "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nintegrations: {frameworks: [" + frameworks + "]}\n" + strings.Join(more, "")
}

// plain is an object in namespace team with whatever metadata.
func plain(apiVersion, kind, metadata, body string) string {
	return fmt.Sprintf("\n---\napiVersion: %s\nkind: %s\nmetadata: {namespace: team, %s}\n%s\n", apiVersion, kind, metadata, body)
}

func job(metadata string) string { return plain("batch/v1", "Job", metadata, jobSpec) }

func pod(metadata string) string { return plain("v1", "Pod", metadata, podSpec) }

const (
	withQueue = "labels: {kueue.x-k8s.io/queue-name: q}"
	stored    = "uid: 0f, creationTimestamp: '2026-01-01T00:00:00Z'"
)

func ownedBy(apiVersion, kind, name, uid string) string {
	return fmt.Sprintf("ownerReferences: [{apiVersion: %s, kind: %s, name: %s, uid: %q, controller: true}]", apiVersion, kind, name, uid)
}

// verdictOf tells the state, queue, reason codes and missing kinds of an entry.
func verdictOf(w *Workload) string {
	var codes []string
	for _, r := range w.Reasons {
		codes = append(codes, r.Code)
	}
	s := string(w.State)
	if w.Queue != "" {
		s += " in " + w.Queue
	}
	if len(codes) > 0 {
		s += ": " + strings.Join(codes, ", ")
	}
	if len(w.Missing) > 0 {
		s += "; missing " + strings.Join(w.Missing, ", ")
	}
	if !w.Via.IsZero() {
		s += "; via " + w.Via.String()
	}
	return s
}

func TestWhoIsManaged(t *testing.T) {
	jobs := configuration("batch/job")
	for _, tc := range []struct {
		name, yaml string
		want       map[string]string // by Kind/name
	}{
		{"a labelled job", jobs + job("name: j, "+withQueue), map[string]string{"Job/j": "Managed in q"}},
		{"an unlabelled job", jobs + job("name: j"), map[string]string{"Job/j": "Unmanaged: NoQueueName"}},
		{"a kind that is not enabled", configuration("pod") + job("name: j, "+withQueue), map[string]string{"Job/j": "Unmanaged in q: FrameworkDisabled"}},
		{"no configuration: enabled, as far as anyone knows", job("name: j, " + withQueue), map[string]string{"Job/j": "Managed in q: ConfigurationAssumed"}},

		{"a labelled job in a namespace that is not selected waits for ever",
			configuration("batch/job", byLabel) + otherTeam + job("name: j, "+withQueue), map[string]string{"Job/j": "Stuck in q: NamespaceNotSelected"}},
		{"one that runs there already runs on",
			configuration("batch/job", byLabel) + otherTeam + job("name: j, "+stored+", "+withQueue), map[string]string{"Job/j": "Unmanaged in q: NamespaceNotSelected"}},
		{"the namespace's labels decide and are not in the input",
			configuration("batch/job", byLabel) + job("name: j, "+withQueue), map[string]string{"Job/j": "Undetermined in q: NamespaceUnknown; missing Namespace"}},
		{"but for an unlabelled job they don't matter",
			configuration("batch/job", byLabel) + job("name: j"), map[string]string{"Job/j": "Unmanaged: NoQueueName"}},
		{"the default selector asks for the name, which is known",
			jobs + strings.ReplaceAll(job("name: j, "+withQueue), "team", "kube-system"), map[string]string{"Job/j": "Stuck in q: NamespaceNotSelected"}},
		{"a labelled StatefulSet is managed in any namespace",
			configuration("statefulset", byLabel) + otherTeam + plain("apps/v1", "StatefulSet", "name: s, "+withQueue, jobSpec),
			map[string]string{"StatefulSet/s": "Managed in q: SelectorNotAsked"}},
		{"the pods of a labelled Deployment there are gated",
			configuration("deployment", byLabel) + otherTeam + plain("apps/v1", "Deployment", "name: d, "+withQueue, jobSpec),
			map[string]string{"Deployment/d": "Stuck in q: NamespaceNotSelected"}},
		{"a labelled Pod there runs", configuration("pod", byLabel) + otherTeam + pod("name: p, "+withQueue), map[string]string{"Pod/p": "Unmanaged in q: NamespaceNotSelected"}},

		{"manageJobsWithoutQueueName, selected", configuration("batch/job", byLabel, unlabelled) + team + job("name: j"), map[string]string{"Job/j": "Managed: QueueLeftEmpty"}},
		{"manageJobsWithoutQueueName, not selected", configuration("batch/job", byLabel, unlabelled) + otherTeam + job("name: j"), map[string]string{"Job/j": "Unmanaged: NamespaceNotSelected"}},

		{"LocalQueue default labels new objects", jobs + lqDefault + job("name: j"), map[string]string{"Job/j": "Managed in default: QueueDefaulted"}},
		{"but none that come before it", jobs + job("name: j") + lqDefault, map[string]string{"Job/j": "Unmanaged: NoQueueName"}},
		{"nor stored ones", jobs + lqDefault + job("name: j, "+stored), map[string]string{"Job/j": "Unmanaged: NoQueueName"}},
		{"nor those of namespaces that are not selected",
			configuration("batch/job", byLabel) + otherTeam + lqDefault + job("name: j"), map[string]string{"Job/j": "Unmanaged: NoQueueName"}},

		{"a child of a managed job has no Workload", configuration("batch/job, jobset.x-k8s.io/jobset") + object("jobset.x-k8s.io/v1alpha2", "JobSet", "s", "spec: {replicatedJobs: [{name: a, template: "+"{spec: {template: {spec: {}}}}}]}") +
			"\n" + job("name: j, "+withQueue+", "+ownedBy("jobset.x-k8s.io/v1alpha2", "JobSet", "s", "")),
			map[string]string{"JobSet/s": "Managed in q", "Job/j": "Elsewhere in q: OwnerIsCharged; via JobSet team/s"}},
		{"a labelled child of an unlabelled job has", configuration("batch/job, jobset.x-k8s.io/jobset") + plain("jobset.x-k8s.io/v1alpha2", "JobSet", "name: s", "spec: {}") +
			job("name: j, "+withQueue+", "+ownedBy("jobset.x-k8s.io/v1alpha2", "JobSet", "s", "")),
			map[string]string{"JobSet/s": "Unmanaged: NoQueueName", "Job/j": "Managed in q"}},
		{"through a disabled kind the walk goes on", configuration("batch/job, workload.codeflare.dev/appwrapper") +
			plain("workload.codeflare.dev/v1beta2", "AppWrapper", "name: a, "+withQueue, "spec: {components: [{template: {apiVersion: v1, kind: Pod, "+podSpec+"}}]}") +
			plain("jobset.x-k8s.io/v1alpha2", "JobSet", "name: s, "+ownedBy("workload.codeflare.dev/v1beta2", "AppWrapper", "a", ""), "spec: {}") +
			job("name: j, "+withQueue+", "+ownedBy("jobset.x-k8s.io/v1alpha2", "JobSet", "s", "")),
			map[string]string{"AppWrapper/a": "Managed in q", "JobSet/s": "Elsewhere: OwnerIsCharged; via AppWrapper team/a", "Job/j": "Elsewhere in q: OwnerIsCharged; via AppWrapper team/a"}},
		{"a pod of a managed job, where Kueue does not look at pods, is charged through the job", jobs + job("name: j, "+withQueue) + pod("name: p, "+ownedBy("batch/v1", "Job", "j", "")),
			map[string]string{"Job/j": "Managed in q", "Pod/p": "Elsewhere: OwnerIsCharged; via Job team/j"}},
		{"one of a job that is not managed is not charged at all", jobs + job("name: j") + pod("name: p, "+ownedBy("batch/v1", "Job", "j", "")),
			map[string]string{"Job/j": "Unmanaged: NoQueueName", "Pod/p": "Unmanaged: FrameworkDisabled"}},
		{"an owner reference to another UID means another object", jobs + plain("batch/v1", "Job", "name: parent, uid: aa, "+withQueue, jobSpec) +
			job("name: j, uid: bb, "+withQueue+", "+ownedBy("batch/v1", "Job", "parent", "cc")),
			map[string]string{"Job/parent": "Managed in q", "Job/j": "Managed in q"}},
		{"an owner that is not in the input", configuration("batch/job, jobset.x-k8s.io/jobset") + job("name: j, "+withQueue+", "+ownedBy("jobset.x-k8s.io/v1alpha2", "JobSet", "s", "")),
			map[string]string{"Job/j": "Undetermined in q: OwnerNotInInput; missing JobSet"}},
		{"a CronJob is no ancestor", jobs + job("name: j, "+withQueue+", "+ownedBy("batch/v1", "CronJob", "c", "")), map[string]string{"Job/j": "Managed in q"}},

		{"a prebuilt Workload that does not exist", jobs + "\n---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: Workload\nmetadata: {name: w, namespace: team}\nspec: {podSets: []}\n" +
			job("name: j, labels: {kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/prebuilt-workload-name: x}"),
			map[string]string{"Job/j": "Incomplete in q: PrebuiltWorkloadMissing", "/": "Managed"}},
		{"a prebuilt Workload that does", jobs + "\n---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: Workload\nmetadata: {name: w, namespace: team}\nspec: {podSets: []}\n" +
			job("name: j, labels: {kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/prebuilt-workload-name: w}"),
			map[string]string{"Job/j": "Managed"}},
		{"a job that is over", jobs + plain("batch/v1", "Job", "name: j, "+withQueue, "spec: {template: {}}\nstatus: {conditions: [{type: Complete, status: 'True'}]}"),
			map[string]string{"Job/j": "Unmanaged in q: HasEnded"}},
		{"a class of priority that does not exist", jobs + "\n---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: WorkloadPriorityClass\nmetadata: {name: high}\nvalue: 5\n" +
			job("name: j, labels: {kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/priority-class: low}"),
			map[string]string{"Job/j": "Stuck in q: PriorityClassNotFound"}},

		{"a RayJob in an existing cluster, labelled", everyFramework + plain("ray.io/v1", "RayJob", "name: r, "+withQueue, "spec: {clusterSelector: {a: b}}"),
			map[string]string{"RayJob/r": "Stuck in q: ExistingRayCluster"}},
		{"a StatefulSet of no replicas", everyFramework + plain("apps/v1", "StatefulSet", "name: s, "+withQueue, "spec: {replicas: 0, template: {}}"),
			map[string]string{"StatefulSet/s": "Incomplete in q: ScaledToZero"}},
		{"a RayCluster that scales itself must be elastic", everyFramework + plain("ray.io/v1", "RayCluster", "name: r, "+withQueue, "spec: {enableInTreeAutoscaling: true, headGroupSpec: {template: {}}}"),
			map[string]string{"RayCluster/r": "Rejected in q: RefusedByWebhook"}},
		{"SparkApplication needs its gate", configuration("batch/job") + plain("sparkoperator.k8s.io/v1beta2", "SparkApplication", "name: s, "+withQueue, "spec: {driver: {}, executor: {}}"),
			map[string]string{"SparkApplication/s": "Unmanaged in q: FrameworkDisabled"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := map[string]string{}
			for _, w := range findIn(t, "input.yaml", []byte(tc.yaml)) {
				got[w.OwnerRef.Kind+"/"+w.OwnerRef.Name] = verdictOf(w)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestPodsAndGroups(t *testing.T) {
	pods := configuration("pod")
	member := func(name, more string) string {
		return pod("name: " + name + ", labels: {kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/pod-group-name: g}, annotations: {kueue.x-k8s.io/pod-group-total-count: '2'" + more + "}")
	}
	gated := "spec: {schedulingGates: [{name: kueue.x-k8s.io/admission}], containers: [{name: main}]}"
	for _, tc := range []struct {
		name, yaml string
		want       map[string]string
	}{
		{"a labelled pod", pods + pod("name: p, "+withQueue), map[string]string{"Pod/p": "Managed in q"}},
		{"a stored pod that the webhook took on", pods + pod("name: p, "+stored+", labels: {kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/managed: 'true'}"),
			map[string]string{"Pod/p": "Managed in q"}},
		{"a stored pod that it did not", pods + pod("name: p, "+stored+", "+withQueue), map[string]string{"Pod/p": "Unmanaged in q: NotMarkedManaged"}},
		{"the pod framework on for Deployments alone", configuration("deployment") + pod("name: p, "+withQueue), map[string]string{"Pod/p": "Stuck in q: PodFrameworkImplicit"}},
		{"a gated pod of a StatefulSet is part of the set", configuration("statefulset") +
			plain("v1", "Pod", "name: s-0, "+stored+", annotations: {kueue.x-k8s.io/pod-suspending-parent: statefulset}, "+ownedBy("apps/v1", "StatefulSet", "s", ""), gated),
			map[string]string{"Pod/s-0": "Elsewhere: PartOfPodSet; via StatefulSet team/s"}},
		{"a pod of a Deployment has a Workload of its own, though the framework is implied", configuration("deployment") +
			plain("v1", "Pod", "name: d-1, "+stored+", labels: {kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/managed: 'true'}, annotations: {kueue.x-k8s.io/pod-suspending-parent: deployment}", gated),
			map[string]string{"Pod/d-1": "Managed in q"}},

		{"a whole group", pods + member("b", "") + member("a", ""), map[string]string{"PodGroup/g": "Managed in q"}},
		{"a group that lacks a pod", pods + member("a", ""), map[string]string{"PodGroup/g": "Incomplete in q: GroupIncomplete"}},
		{"fast admission does not wait", pods + member("a", ", kueue.x-k8s.io/pod-group-fast-admission: 'true'"), map[string]string{"PodGroup/g": "Managed in q"}},
		{"different queues", pods + member("a", "") + strings.Replace(member("b", ""), "queue-name: q", "queue-name: r", 1), map[string]string{"PodGroup/g": "Stuck in q: GroupQueuesDiffer"}},
		{"different totals", pods + member("a", "") + member("b", "") + strings.Replace(member("c", ""), "'2'", "'3'", 1), map[string]string{"PodGroup/g": "Stuck in q: GroupTotalsDiffer"}},
		{"a name without total is refused", pods + pod("name: p, labels: {kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/pod-group-name: g}"), map[string]string{"Pod/p": "Rejected in q: RefusedByWebhook"}},
		{"a total without name is refused", pods + pod("name: p, "+withQueue+", annotations: {kueue.x-k8s.io/pod-group-total-count: '2'}"), map[string]string{"Pod/p": "Rejected in q: RefusedByWebhook"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := map[string]string{}
			for _, w := range findIn(t, "input.yaml", []byte(tc.yaml)) {
				got[w.OwnerRef.Kind+"/"+w.OwnerRef.Name] = verdictOf(w)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestOpenShift: the operator's webhooks are not called outside the selected namespaces, so nothing is held there.
func TestOpenShift(t *testing.T) {
	const operator = `
apiVersion: kueue.openshift.io/v1
kind: Kueue
metadata: {name: cluster}
spec: {config: {integrations: {frameworks: [BatchJob]}}}
`
	for _, tc := range []struct{ name, labels, want string }{
		{"without the operator's label", "{}", "Unmanaged in q: NamespaceNotSelected"},
		{"with it", "{kueue.openshift.io/managed: 'true'}", "Managed in q"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			namespace := "\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: team, labels: " + tc.labels + "}\n"
			for _, w := range findWith(t, []byte(operator+namespace+job("name: j, "+withQueue)), "") {
				if diff := cmp.Diff(tc.want, verdictOf(w)); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			}
		})
	}
}
