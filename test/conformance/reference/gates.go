package reference

import (
	"fmt"
	"sync"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
)

// Kueue's feature gates are one per process. A run holds them for its duration, so runs with different gates
// wait for each other, and gives them back as it found them.
var gatesHeld sync.RWMutex

// holdGates sets the gates of a Configuration and returns what gives them back.
func holdGates(wanted map[string]bool) (release func(), err error) {
	if len(wanted) == 0 {
		gatesHeld.RLock()
		return gatesHeld.RUnlock, nil
	}
	gatesHeld.Lock()
	gates := utilfeature.DefaultMutableFeatureGate
	before := map[string]bool{}
	for name := range gates.GetAll() {
		if _, changes := wanted[string(name)]; changes {
			before[string(name)] = gates.Enabled(featuregate.Feature(name))
		}
	}
	if err := gates.SetFromMap(wanted); err != nil {
		gatesHeld.Unlock()
		return nil, fmt.Errorf("featureGates: %w", err)
	}
	return func() {
		_ = gates.SetFromMap(before)
		gatesHeld.Unlock()
	}, nil
}
