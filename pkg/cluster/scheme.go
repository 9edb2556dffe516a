package cluster

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	dra1 "k8s.io/dynamic-resource-allocation/api/v1beta1"
	dra2 "k8s.io/dynamic-resource-allocation/api/v1beta2"
)

// resourceScheme knows the conversions between the versions of resource.k8s.io. It is built only
// when an old version turns up.
var resourceScheme = sync.OnceValues(func() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	if err := dra1.AddToScheme(s); err != nil {
		return nil, err
	}
	if err := dra2.AddToScheme(s); err != nil {
		return nil, err
	}
	return s, nil
})
