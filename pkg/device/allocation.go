package device

import (
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
)

// ID names one device of a cluster.
type ID struct{ Driver, Pool, Device string }

// String is driver/pool/device, as the scheduler writes it.
func (id ID) String() string { return id.Driver + "/" + id.Pool + "/" + id.Device }

// Holder is one result of a claim's allocation: the claim holds the device.
type Holder struct {
	// Claim is the record of the ResourceClaim and Status its status.
	Claim  *cluster.Object
	Status *resourcev1.ResourceClaimStatus
	// Request of the claim that the device was allocated for, "main" or "main/sub".
	Request string
	// Result is the index in status.allocation.devices.results.
	Result int
	// Share identifies one of several allocations of a device that allows for it; empty when the device is held alone.
	Share string
	// Consumed is what a share takes of the device's capacity.
	Consumed map[resourcev1.QualifiedName]resource.Quantity
}

// Allocations are the devices that ResourceClaims hold. Admin access holds none.
type Allocations struct {
	// Known tells that the claims of all namespaces are in the input. Else a device that nobody is seen to hold may be
	// held.
	Known bool
	// Claims that have an allocation, sorted by namespace and name.
	Claims []*cluster.Object

	holders map[ID][]Holder
	order   []ID
}

// NewAllocations reads the allocations of the ResourceClaims of a snapshot.
func NewAllocations(snap *cluster.Snapshot) *Allocations {
	a := &Allocations{Known: snap.Coverage.Has(cluster.ResourceClaim), holders: map[ID][]Holder{}}
	for o, claim := range cluster.All[*resourcev1.ResourceClaim](snap, cluster.ResourceClaim) {
		if claim.Status.Allocation == nil {
			continue
		}
		a.Claims = append(a.Claims, o)
		for i, r := range claim.Status.Allocation.Devices.Results {
			if r.AdminAccess != nil && *r.AdminAccess {
				continue
			}
			id := ID{r.Driver, r.Pool, r.Device}
			h := Holder{Claim: o, Status: &claim.Status, Request: r.Request, Result: i, Consumed: r.ConsumedCapacity}
			if r.ShareID != nil {
				h.Share = string(*r.ShareID)
			}
			if a.holders[id] == nil {
				a.order = append(a.order, id)
			}
			a.holders[id] = append(a.holders[id], h)
		}
	}
	return a
}

// Holders of a device: one, or several where the device may be shared.
func (a *Allocations) Holders(id ID) []Holder { return a.holders[id] }

// Devices yields the devices that are held with those who hold them, in the order of the claims.
func (a *Allocations) Devices(yield func(ID, []Holder) bool) {
	for _, id := range a.order {
		if !yield(id, a.holders[id]) {
			return
		}
	}
}
