//go:build !kueue_v0_19_0

package reference

import (
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/kueue/pkg/controller/core"
	"sigs.k8s.io/kueue/pkg/workload"
)

// KueueVersion is the version of the Kueue that this program links.
const KueueVersion = "v0.19.2"

func workloadOptions() []core.Option {
	return []core.Option{core.WithResourceSliceAPIAvailable(true)}
}

func amountOf(requests *workload.PodSetResources, name corev1.ResourceName) int64 {
	return requests.Requests.ResourceValue(name)
}

// ArbitraryOrder tells that the order of resources is that of a Go map.
const ArbitraryOrder = false
