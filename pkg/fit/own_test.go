package fit

import (
	"strings"
	"testing"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

// runningPod is a pod of job w that has a claim by that name.
func runningPod(name, claim, phase string) string {
	return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", namespace: team, ownerReferences: [{apiVersion: batch/v1, kind: Job, name: w, uid: w-uid, controller: true}]}\n" +
		"spec: {nodeName: n1, containers: [{name: main}], resourceClaims: [{name: gpu, resourceClaimTemplateName: one}]}\n" +
		"status: {phase: " + phase + ", resourceClaimStatuses: [{name: gpu, resourceClaimName: " + claim + "}]}\n"
}

// Pods that run hold their devices; they need no others, and theirs are not in their way.
func TestPodsThatRunHoldTheirDevices(t *testing.T) {
	devices := pool("n1", gpu("a-0", "small", 0, ""), gpu("a-1", "small", 0, ""))
	admitted := func(count int) *workload.Workload {
		w := work(pods("main", count, "gpu=one"))
		w.OwnerRef = cluster.Ref{APIVersion: "batch/v1", Kind: "Job", Namespace: "team", Name: "w"}
		w.Object = &kueue.Workload{Status: kueue.WorkloadStatus{Admission: &kueue.Admission{}}}
		return w
	}
	unmanaged := admitted(1)
	unmanaged.Object, unmanaged.State, unmanaged.Owner = nil, workload.Unmanaged, &cluster.Object{Ref: unmanaged.OwnerRef}
	laid := admitted(1)
	laid.Object, laid.State, laid.Owner = nil, workload.Unmanaged, &cluster.Object{Ref: laid.OwnerRef, Laid: true}
	runCases(t, map[string]fitCase{
		"all of them": {documents: with(devices, held("c", "n1", "", "a-0"), runningPod("w-1", "c", "Running")), work: admitted(1), want: `
Fits
main: 0 of 1, 1 hold theirs`},
		"one does, one is to come": {documents: with(devices, held("c", "n1", "", "a-0"), runningPod("w-1", "c", "Running")), work: admitted(2), want: `
Fits
main: 1 of 2, 1 hold theirs
  n1 a-1`},
		"one whose claim is not allocated yet": {documents: with(devices, strings.Split(held("c", "n1", "", "a-0"), "status:")[0], runningPod("w-1", "c", "Pending")), work: admitted(1), want: `
Fits
main: 1 of 1
  n1 a-0`},
		"one that has ended needs none, its place does": {documents: with(devices, runningPod("w-1", "c", "Succeeded")), work: admitted(1), want: `
Fits
main: 1 of 1
  n1 a-0`},
		"pods of somebody else": {documents: with(devices, held("c", "n1", "", "a-0"), strings.ReplaceAll(runningPod("w-1", "c", "Running"), "name: w, uid: w-uid", "name: v, uid: v-uid")), work: admitted(2), want: `
DoesNotFit
main: 1 of 2
  n1 a-1
  n1 Allocated: 2 of 2 devices match; 0 can be had, 1 is needed: 1 held by claims, 1 given to earlier pods of the workload; ResourceClaim team/c
  n2 NoDevices: no devices are published for the node`},
		"pods are not in the input": {documents: with(devices), work: admitted(1), want: `
Unknown: the workload has quota, so that its pods may hold devices already (missing Pod)`},
		"a job that Kueue does not manage": {documents: with(devices), work: unmanaged, want: `
Unknown: Kueue does not hold the job back, so that its pods may hold devices already (missing Pod)`},
		"a job that is in no cluster has no pods": {documents: with(devices), work: laid, want: `
Fits
main: 1 of 1
  n1 a-0`},
	})
}
