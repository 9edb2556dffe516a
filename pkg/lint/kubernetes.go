package lint

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
)

// KubernetesVersion is a minor release of Kubernetes; zero when it is not known.
type KubernetesVersion struct{ Major, Minor int }

var writtenVersion = regexp.MustCompile(`^v?(\d{1,4})\.(\d{1,4})(?:[.+-].*)?$`)

// ParseKubernetes reads `1.36`, `v1.36.3`.
func ParseKubernetes(s string) (KubernetesVersion, error) {
	m := writtenVersion.FindStringSubmatch(s)
	if m == nil {
		return KubernetesVersion{}, fmt.Errorf("%q is not a version of Kubernetes; write one like 1.36", s)
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	return KubernetesVersion{major, minor}, nil
}

// Known tells that there is a version.
func (v KubernetesVersion) Known() bool { return v != KubernetesVersion{} }

// AtLeast tells that v is w or later.
func (v KubernetesVersion) AtLeast(w KubernetesVersion) bool {
	return cmp.Or(cmp.Compare(v.Major, w.Major), cmp.Compare(v.Minor, w.Minor)) >= 0
}

// String is `1.36`.
func (v KubernetesVersion) String() string { return fmt.Sprintf("%d.%d", v.Major, v.Minor) }
