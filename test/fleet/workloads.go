package fleet

import (
	"fmt"
	"math/rand/v2"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

var kueueVersion = kueue.SchemeGroupVersion.String()

// firstCreated is when the first job was created; each next one came a second later.
var firstCreated = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

// Charge is what one workload must be charged.
type Charge struct {
	Namespace, Job string
	// GPUMemory in bytes, of all pods.
	GPUMemory int64
	// Reserved tells that the Workload holds quota.
	Reserved bool
}

// asked is one workload before it is written.
type asked struct {
	Charge
	request request
	pods    int32
	index   int
	team    int
	// shortMi is by how much the charge exceeds the quota left; meaningful for one that waits.
	shortMi int64
}

// draw decides what every workload asks for, and which of them hold quota: each team's jobs are
// taken in order while its quota lasts.
func draw(s Size) []asked {
	random := rand.New(rand.NewPCG(s.Seed, 0))
	var deck []request
	for _, r := range requests {
		for range r.weight {
			deck = append(deck, r)
		}
	}
	var free [teams]int64
	for team := range free {
		free[team] = teamQuotaMi(s)
	}
	out := make([]asked, 0, s.Workloads)
	for i := range s.Workloads {
		a := asked{request: deck[random.IntN(len(deck))], pods: 1 + random.Int32N(4), index: i, team: i % teams}
		need := a.request.memoryMi * int64(a.pods)
		a.Charge = Charge{Namespace: teamName(a.team), Job: fmt.Sprintf("train-%05d", i), GPUMemory: need << 20,
			Reserved: need <= free[a.team]}
		if a.Reserved {
			free[a.team] -= need
		}
		a.shortMi = need - free[a.team]
		out = append(out, a)
	}
	return out
}

// Expected is what the workloads of a fleet must be charged, in the order they are written.
func Expected(s Size) []Charge {
	var out []Charge
	for _, a := range draw(s) {
		out = append(out, a.Charge)
	}
	return out
}

// writeWorkloads writes all jobs, then all Workloads, as listing one kind after the other does.
func writeWorkloads(out *list, s Size) {
	all := draw(s)
	for _, a := range all {
		out.add(a.job())
	}
	for _, a := range all {
		out.add(a.workload())
	}
}

func (a asked) uid(kind int) types.UID {
	return types.UID(fmt.Sprintf("%08x-0000-4000-8000-%012x", kind, a.index))
}

func (a asked) created() metav1.Time {
	return metav1.NewTime(firstCreated.Add(time.Duration(a.index) * time.Second))
}

func (a asked) job() *batchv1.Job {
	suspend, backoff := !a.Reserved, int32(6)
	completion, replacement := batchv1.NonIndexedCompletion, batchv1.TerminatingOrFailed
	return &batchv1.Job{
		TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"},
		ObjectMeta: metav1.ObjectMeta{
			Name: a.Job, Namespace: a.Namespace, UID: a.uid(1), CreationTimestamp: a.created(),
			Labels: map[string]string{"kueue.x-k8s.io/queue-name": queueName},
		},
		Spec: batchv1.JobSpec{
			Parallelism: &a.pods, Completions: &a.pods, BackoffLimit: &backoff, Suspend: &suspend,
			CompletionMode: &completion, PodReplacementPolicy: &replacement, Template: a.pod(),
		},
	}
}

func (a asked) pod() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever,
		Containers: []corev1.Container{{
			Name: "main", Image: "registry.example/train:1.4",
			Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"),
					corev1.ResourceMemory: resource.MustParse("16Gi")},
				Claims: []corev1.ResourceClaim{{Name: "gpu"}},
			},
		}},
		ResourceClaims: []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimTemplateName: &a.request.name}},
	}}
}

func (a asked) workload() *kueue.Workload {
	active, priority, yes := true, int32(0), true
	w := &kueue.Workload{
		TypeMeta: metav1.TypeMeta{APIVersion: kueueVersion, Kind: "Workload"},
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("job-%s-%05x", a.Job,
				a.index), Namespace: a.Namespace, UID: a.uid(2), CreationTimestamp: a.created(),
			Labels: map[string]string{"kueue.x-k8s.io/job-uid": string(a.uid(1))},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "batch/v1", Kind: "Job", Name: a.Job, UID: a.uid(1), Controller: &yes,
				BlockOwnerDeletion: &yes,
			}},
		},
		Spec: kueue.WorkloadSpec{
			Active: &active, Priority: &priority, QueueName: queueName,
			PodSets: []kueue.PodSet{{Name: kueue.DefaultPodSetName, Count: a.pods, Template: a.pod()}},
		},
	}
	if a.Reserved {
		w.Status = a.admitted()
	} else {
		w.Status = a.waiting()
	}
	return w
}

// usage is the charge of the whole pod set.
func (a asked) usage() corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewQuantity(4*int64(a.pods), resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(16<<30*int64(a.pods), resource.BinarySI),
		gpuMemory:             *resource.NewQuantity(a.GPUMemory, resource.BinarySI),
	}
}

func (a asked) condition(kind string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message,
		LastTransitionTime: a.created()}
}

func (a asked) admitted() kueue.WorkloadStatus {
	flavors := map[corev1.ResourceName]kueue.ResourceFlavorReference{}
	for name := range a.usage() {
		flavors[name] = flavorName
	}
	return kueue.WorkloadStatus{
		Admission: &kueue.Admission{
			ClusterQueue: kueue.ClusterQueueReference(a.Namespace),
			PodSetAssignments: []kueue.PodSetAssignment{{
				Name: kueue.DefaultPodSetName, Count: &a.pods, Flavors: flavors, ResourceUsage: a.usage(),
			}},
		},
		Conditions: []metav1.Condition{
			a.condition(kueue.WorkloadQuotaReserved, metav1.ConditionTrue, "QuotaReserved",
				"Quota reserved in ClusterQueue "+a.Namespace),
			a.condition(kueue.WorkloadAdmitted, metav1.ConditionTrue, "Admitted", "The workload is admitted"),
		},
	}
}

func (a asked) waiting() kueue.WorkloadStatus {
	return kueue.WorkloadStatus{
		ResourceRequests: []kueue.PodSetRequest{{Name: kueue.DefaultPodSetName, Resources: a.usage()}},
		Conditions: []metav1.Condition{a.condition(kueue.WorkloadQuotaReserved, metav1.ConditionFalse, "Pending",
			fmt.Sprintf(
				"couldn't assign flavors to pod set main: insufficient unused quota for gpu.memory in flavor %s, %s "+
					"more needed",
				flavorName, mi(a.shortMi)))},
	}
}
