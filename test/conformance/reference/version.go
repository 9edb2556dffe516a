//go:build !kueue_v0_19_0

package reference

import "sigs.k8s.io/kueue/pkg/controller/core"

// KueueVersion is the version of the Kueue that this program links.
const KueueVersion = "v0.19.2"

func workloadOptions() []core.Option {
	return []core.Option{core.WithResourceSliceAPIAvailable(true)}
}
