package queuestate_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/queuestate"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/source"
)

const (
	flavor  = "kind: ResourceFlavor\nmetadata: {name: default, uid: f}\n---\n"
	lists   = "kind: AdmissionCheckList\nitems: []\n---\nkind: CohortList\nitems: []\n---\nkind: TopologyList\nitems: []\n---\n"
	groups  = "resourceGroups: [{coveredResources: [cpu], flavors: [{name: default, resources: [{name: cpu, nominalQuota: 1}]}]}]"
	config1 = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
)

// clusterQueue is a ClusterQueue cq with more in its metadata, spec and conditions.
func clusterQueue(meta, spec, condition string) string {
	text := "kind: ClusterQueue\nmetadata: {name: cq, uid: c" + meta + "}\nspec: {" + groups + spec + "}\n"
	if condition != "" {
		text += "status: {conditions: [{type: Active, " + condition + "}]}\n"
	}
	return text + "---\n"
}

func check(name, controller, active string) string {
	return "kind: AdmissionCheck\nmetadata: {name: " + name + ", uid: " + name + "}\nspec: {controllerName: kueue.x-k8s.io/" +
		controller + "}\nstatus: {conditions: [{type: Active, status: \"" + active + "\"}]}\n---\n"
}

func checks(rules string) string {
	return ", admissionChecksStrategy: {admissionChecks: [" + rules + "]}"
}

func load(t *testing.T, text string) *queuestate.Queues {
	t.Helper()
	var docs []string
	for _, d := range strings.Split(text+config1, "---\n") {
		if strings.HasPrefix(d, "kind:") {
			d = "apiVersion: kueue.x-k8s.io/v1beta2\n" + d
		}
		docs = append(docs, d)
	}
	b := cluster.NewBuilder(nil)
	err := source.Read(t.Context(), source.Options{Stdin: strings.NewReader(strings.Join(docs, "---\n")), Filenames: []string{"-"}},
		b.Sink(cluster.InputOptions{}))
	if err != nil {
		t.Fatal(err)
	}
	snap := b.Build()
	conf, err := config.Resolve(snap, config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return queuestate.New(snap, conf)
}

func TestClusterQueue(t *testing.T) {
	const closed = "Can't admit new workloads: "
	tests := map[string]struct {
		input   string
		verdict metav1.ConditionStatus
		reason  string
		message string
		why     string
	}{
		"all it names is there": {
			input: flavor + clusterQueue("", "", ""), verdict: metav1.ConditionTrue,
			reason: "Ready", message: "Can admit new workloads",
		},
		"it is held": {
			input: flavor + clusterQueue("", ", stopPolicy: Hold", ""), verdict: metav1.ConditionFalse,
			reason: "Stopped", message: closed + "is stopped.", why: "it is stopped (spec.stopPolicy Hold)",
		},
		"it is drained, and a flavor is missing": {
			input: clusterQueue("", ", stopPolicy: HoldAndDrain", "") + "kind: ResourceFlavorList\nitems: []\n---\n", verdict: metav1.ConditionFalse,
			reason: "Stopped", message: closed + "is stopped, references missing ResourceFlavor(s): default.",
			why: "it is stopped (spec.stopPolicy HoldAndDrain)",
		},
		"it is being deleted, and nothing else counts": {
			input:   flavor + clusterQueue(`, deletionTimestamp: "2026-01-01T00:00:00Z"`, ", stopPolicy: Hold", ""),
			verdict: metav1.ConditionFalse, reason: "Terminating",
			message: "Can't admit new workloads; clusterQueue is terminating", why: "it is being deleted (metadata.deletionTimestamp)",
		},
		"a check is missing, another says it is not active": {
			input:   flavor + check("b", "x", "False") + clusterQueue("", checks("{name: b}, {name: a}"), ""),
			verdict: metav1.ConditionFalse, reason: "AdmissionCheckNotFound",
			message: closed + "references missing AdmissionCheck(s): a, references inactive AdmissionCheck(s): b.",
			why:     "AdmissionCheck a does not exist",
		},
		"two checks of MultiKueue, one for a flavor that is all there are": {
			input: flavor + check("b", "multikueue", "True") + check("a", "multikueue", "True") +
				clusterQueue("", checks("{name: b, onFlavors: [default]}, {name: a}"), ""),
			verdict: metav1.ConditionFalse, reason: "MultipleMultiKueueAdmissionChecks",
			message: closed + "Cannot use multiple MultiKueue AdmissionChecks on the same ClusterQueue, found: a,b.",
			why:     "AdmissionChecks a, b are all of MultiKueue, and a ClusterQueue can have one",
		},
		"MultiKueue for a flavor it lacks": {
			input:   flavor + check("a", "multikueue", "True") + clusterQueue("", checks("{name: a, onFlavors: [other]}"), ""),
			verdict: metav1.ConditionFalse, reason: "MultiKueueAdmissionCheckAppliedPerFlavor",
			message: closed + "Cannot specify MultiKueue AdmissionCheck per flavor, found: a.",
			why:     "AdmissionCheck a is of MultiKueue and leaves flavors of the queue out (onFlavors)",
		},
		"a flavor placed by a topology that is missing": {
			input:   strings.Replace(flavor, "---", "spec: {topologyName: racks, nodeLabels: {a: b}}\n---", 1) + clusterQueue("", "", ""),
			verdict: metav1.ConditionFalse, reason: "TopologyNotFound", message: closed + `there is no Topology "racks" for TAS flavor "default".`,
			why: "Topology racks of ResourceFlavor default does not exist",
		},
		"below cohorts that lead back to themselves, which its condition does not tell": {
			input: flavor + "kind: Cohort\nmetadata: {name: a}\nspec: {parentName: b}\n---\nkind: Cohort\nmetadata: {name: b}\n" +
				"spec: {parentName: b}\n---\n" + clusterQueue("", ", cohortName: a", ""),
			verdict: metav1.ConditionFalse, reason: "Ready", message: "Can admit new workloads",
			why: "Cohort b is its own ancestor (spec.parentName)",
		},
		"it says that it is inactive, and the objects do not show why": {
			input:   flavor + clusterQueue("", "", `status: "False", reason: Odd, message: m`),
			verdict: metav1.ConditionFalse, reason: "Ready", message: "Can admit new workloads", why: "it says so itself (Odd: m)",
		},
		"it says that it is active, and no flavors are in the input": {
			input: clusterQueue("", "", `status: "True", reason: Ready`), verdict: metav1.ConditionTrue,
		},
		"it says nothing, and no flavors are in the input": {
			input: clusterQueue("", "", ""), verdict: metav1.ConditionUnknown,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := load(t, lists+tc.input).ClusterQueue("cq")
			why := ""
			if c := s.Cause(); c != nil {
				why = c.Text()
			}
			got := []string{string(s.Verdict), s.Predicted.Reason, s.Predicted.Message, why}
			if diff := cmp.Diff([]string{string(tc.verdict), tc.reason, tc.message, tc.why}, got); diff != "" {
				t.Error("verdict, reason, message, cause (-want +got):\n" + diff)
			}
		})
	}
}

func TestLocalQueue(t *testing.T) {
	local := func(spec string) string {
		return "kind: LocalQueue\nmetadata: {name: lq, namespace: a, uid: l}\nspec: {clusterQueue: cq" + spec + "}\n---\n"
	}
	tests := map[string]struct {
		input, reason string
		verdict       metav1.ConditionStatus
		cause         queuestate.CauseKind
	}{
		"its ClusterQueue is active":   {flavor + clusterQueue("", "", "") + local(""), "Ready", metav1.ConditionTrue, 0},
		"it is stopped itself":         {flavor + clusterQueue("", "", "") + local(", stopPolicy: Hold"), "Stopped", metav1.ConditionFalse, queuestate.Stopped},
		"its ClusterQueue is stopped":  {flavor + clusterQueue("", ", stopPolicy: Hold", "") + local(""), "ClusterQueueIsInactive", metav1.ConditionFalse, queuestate.ClusterQueueInactive},
		"there is no ClusterQueue":     {"kind: ClusterQueueList\nitems: []\n---\n" + local(""), "ClusterQueueDoesNotExist", metav1.ConditionFalse, queuestate.ClusterQueueNotFound},
		"no ClusterQueue in the input": {local(""), "", metav1.ConditionUnknown, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := load(t, lists+tc.input).LocalQueue("a", "lq")
			var kind queuestate.CauseKind
			if c := s.Cause(); c != nil {
				kind = c.Kind
			}
			if s.Verdict != tc.verdict || s.Predicted.Reason != tc.reason || kind != tc.cause {
				t.Errorf("got %s, reason %q, cause %d; want %s, %q, %d", s.Verdict, s.Predicted.Reason, kind, tc.verdict, tc.reason, tc.cause)
			}
		})
	}
}
