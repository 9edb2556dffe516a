package fit

import (
	"context"
	"time"

	"k8s.io/dynamic-resource-allocation/structured"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
)

// Verdict says whether the pods can get their devices.
type Verdict string

const (
	// Fits: all pods can.
	Fits Verdict = "Fits"
	// DoesNotFit: not all of them can.
	DoesNotFit Verdict = "DoesNotFit"
	// Unknown: it can't be told; Why says what for.
	Unknown Verdict = "Unknown"
	// NotNeeded: no pod asks for devices, or none will run.
	NotNeeded Verdict = "NotNeeded"
)

// Result is the answer for one workload.
type Result struct {
	Verdict Verdict
	// Why says in a sentence why the verdict is Unknown or NotNeeded.
	Why string
	// Missing are the kinds whose absence from the input keeps the verdict Unknown.
	Missing []string
	PodSets []PodSet
	// Supposed are sentences about what the input does not tell and what was taken for true instead.
	Supposed []string
}

// PodSet tells how the pods of one pod set fare.
type PodSet struct {
	Name string
	// Count of pods that need devices: not those that have ended.
	Count int
	// Holding pods have their devices already; Placed ones would get theirs.
	Holding, Placed int
	// Claims that each pod has, as the pod names them.
	Claims []string
	// Placements of the pods that would get devices, in their order.
	Placements []Placement
	// Refusals say why the next pod gets none; empty when all do.
	Refusals []Refusal
}

// Placement is where one pod would get its devices.
type Placement struct {
	Node    string
	Devices []Device
}

// Device is one device that a pod would get.
type Device struct {
	// Claim of the pod, and the request in it.
	Claim, Request string
	device.ID
}

// Refusal is why nodes can't take a pod.
type Refusal struct {
	// Nodes it holds for, by name; empty when it does not depend on the node.
	Nodes []string
	Reason
}

// Code names the kind of a reason.
type Code string

const (
	// NodeSelector: the pod's node selector, its affinity or the labels of its flavor exclude the node.
	NodeSelector Code = "NodeSelector"
	// NodeTaint: the node has a taint that the pod does not tolerate, or takes no pods.
	NodeTaint Code = "NodeTaint"
	// NodeMissing: devices are published for a node that does not exist.
	NodeMissing Code = "NodeMissing"
	// NoNodes: there are no nodes at all.
	NoNodes Code = "NoNodes"
	// DevicePlugin: the node serves the extended resource by a device plugin, which is not looked at.
	DevicePlugin Code = "DevicePlugin"
	// ClaimElsewhere: a claim of the pod is allocated where the node can't use it.
	ClaimElsewhere Code = "ClaimElsewhere"
	// ObjectMissing: a claim, template or class that the pod needs does not exist, or asks for what no API server lets
	// pass.
	ObjectMissing Code = "ObjectMissing"
	// NoDevices: none are published for the node.
	NoDevices Code = "NoDevices"
	// NoMatch: the selectors match fewer devices than are asked for.
	NoMatch Code = "NoMatch"
	// PoolUnusable: the pool of the devices that match is incomplete or invalid.
	PoolUnusable Code = "PoolUnusable"
	// Allocated: claims hold the devices that match.
	Allocated Code = "Allocated"
	// Tainted: the devices that match have taints that the request does not tolerate.
	Tainted Code = "Tainted"
	// Counters: too little is left of counters that the devices that match consume.
	Counters Code = "Counters"
	// Capacity: the devices that match have too little capacity, or too little of it is left.
	Capacity Code = "Capacity"
	// Constraint: no choice of devices meets a constraint of the claim.
	Constraint Code = "Constraint"
	// Together: every request alone finds enough devices, but not all of them at once.
	Together Code = "Together"
	// Failed: the scheduler gives up on the pod with an error.
	Failed Code = "Failed"
)

// Reason says why a pod gets no devices on a node.
type Reason struct {
	Code Code
	// Text is a sentence.
	Text string
	// Claim and Request that can't be satisfied; empty when the reason is none of theirs.
	Claim, Request string
	// Count is what became of the devices that the request could look at; nil when it got no further than the node.
	Count *Count
	// HeldBy are the claims that hold devices which match, by namespace and name.
	HeldBy []cluster.Ref
}

// Count follows the devices of a node through the rules of the allocator.
type Count struct {
	// Needed by the request.
	Needed int
	// Published for the node.
	Published int
	// Class is how many the selectors of the device class match, Selectors how many are left after each selector of the
	// request.
	Class     int
	Selectors []int
	// Of those that match: in pools that serve nobody, held by claims, given to earlier pods of the workload, tainted,
	// short of counters, short of capacity. The first that holds counts.
	Unusable, Held, Own, Tainted, Short, Capacity int
	// Eligible are left.
	Eligible int
}

// Matched is how many devices the selectors match.
func (c *Count) Matched() int {
	if n := len(c.Selectors); n > 0 {
		return c.Selectors[n-1]
	}
	return c.Class
}

// DefaultLimit is how long the scheduler looks for devices for a pod on a node.
const DefaultLimit = 10 * time.Second

// features are those of the scheduler of Kubernetes 1.37 at their defaults.
var features = structured.Features{
	AdminAccess: true, ConsumableCapacity: true, DeviceBindingAndStatus: true, DeviceTaints: true,
	FractionalCapacityRange: true,
	PartitionableDevices:    true, PrioritizedList: true,
}

// Assumptions hold for every result.
var Assumptions = []string{
	"devices are allocated as by Kubernetes 1.37 with its features at their defaults",
	"of the nodes only selectors, affinity and taints are looked at, not cpu, memory or other limits",
}

// limited returns a context that ends after the time limit.
func (c *Checker) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, c.limit)
}
