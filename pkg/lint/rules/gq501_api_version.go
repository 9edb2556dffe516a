package rules

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/source"
)

var apiVersion = &lint.Rule{
	ID: "GQ501", Name: "api-version", Severity: lint.Warning, Concurrent: true,
	Doc: lint.Doc{
		Title: "An API version is removed, deprecated, or not there yet",
		Why: "A cluster serves an API version from one release to another. Objects of a version it does not serve " +
			"are refused: resource.k8s.io has had five versions, and a new cluster serves only v1. Give the release " +
			"with --kubernetes-version.",
		Bad:   "apiVersion: resource.k8s.io/v1beta1\nkind: DeviceClass\n",
		Good:  "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\n",
		Since: "every version",
		Links: []string{linkDeprecation, linkDRAAPI},
	},
	Check: func(p *lint.Pass) {
		for i := range p.Documents {
			checkVersion(p, &p.Documents[i])
		}
	},
}

// life is when releases of Kubernetes serve an API version. Zero means never.
type life struct {
	introduced, deprecated, removed int // minor releases of Kubernetes 1
	use                             string
}

// lives of the versions of Kubernetes' own APIs that hold quota, claims or jobs.
var lives = map[string]life{
	"resource.k8s.io/v1alpha1":   {26, 26, 27, "resource.k8s.io/v1"},
	"resource.k8s.io/v1alpha2":   {27, 30, 31, "resource.k8s.io/v1"},
	"resource.k8s.io/v1alpha3":   {31, 32, 34, "resource.k8s.io/v1"},
	"resource.k8s.io/v1beta1":    {32, 35, 38, "resource.k8s.io/v1"},
	"resource.k8s.io/v1beta2":    {33, 36, 39, "resource.k8s.io/v1"},
	"resource.k8s.io/v1":         {34, 0, 0, ""},
	"batch/v1beta1":              {8, 21, 25, "batch/v1"},
	"apps/v1beta1":               {6, 8, 16, "apps/v1"},
	"apps/v1beta2":               {8, 9, 16, "apps/v1"},
	"scheduling.k8s.io/v1beta1":  {11, 14, 22, "scheduling.k8s.io/v1"},
	"scheduling.k8s.io/v1alpha1": {8, 14, 22, "scheduling.k8s.io/v1"},
	"node.k8s.io/v1beta1":        {14, 20, 25, "node.k8s.io/v1"},
}

func checkVersion(p *lint.Pass, d *source.Document) {
	l, known := lives[d.APIVersion]
	if d.APIVersion == "resource.k8s.io/v1alpha3" && d.Kind == "DeviceTaintRule" {
		return // lives longer than its version
	}
	switch {
	case known:
		out := lived(p, d, l)
		if out.Message == "" {
			return // most are written so; where they stand need not be looked up
		}
		out.At = writtenVersion(d)
		out.Fix = writeCurrent(p, d)
		p.Report(out)
	case d.APIVersion == "kueue.x-k8s.io/v1beta1":
		p.Report(kueueV1beta1(p, d))
	default:
		unreadVersion(p, d)
	}
}

// kueueV1beta1 says how the old version of Kueue's API stands to the release. Where that is only assumed, it is no
// error.
func kueueV1beta1(p *lint.Pass, d *source.Document) lint.Diagnostic {
	out := lint.Diagnostic{At: writtenVersion(d), Severity: lint.Info, Help: "write kueue.x-k8s.io/v1beta2",
		Message: "kueue.x-k8s.io/v1beta1 is deprecated"}
	switch {
	case p.Config.Behavior.ServesV1beta1:
	case p.Config.VersionSource == config.VersionFromDefault:
		out.Severity, out.Message = lint.Warning, "kueue.x-k8s.io/v1beta1 is deprecated, and not served from Kueue "+
			"0.20 on"
	default:
		out.Severity, out.Message = lint.Error, "kueue.x-k8s.io/v1beta1 is not served by Kueue "+p.Config.Version
	}
	return out
}

func writtenVersion(d *source.Document) lint.Place { return lint.AtDocument(d, "apiVersion") }

// lived says how a version stands to the release asked for, or to those around; nothing where all is well.
func lived(p *lint.Pass, d *source.Document, l life) lint.Diagnostic {
	out := lint.Diagnostic{Help: "write " + l.use, Severity: lint.Error}
	release, v := p.Kubernetes, p.Kubernetes.Minor
	switch {
	case !release.Known() && l.use == "":
		return lint.Diagnostic{}
	case !release.Known() && l.removed <= oldestRelease:
		out.Message = fmt.Sprintf("%s is not served since Kubernetes 1.%d", d.APIVersion, l.removed)
	case !release.Known():
		out.Severity = lint.Warning
		out.Message = fmt.Sprintf("%s is deprecated since Kubernetes 1.%d and not served from 1.%d on; new clusters "+
			"serve only %s by default", d.APIVersion, l.deprecated, l.removed, l.use)
	case v < l.introduced:
		out.Message, out.Help = fmt.Sprintf("%s is served from Kubernetes 1.%d on, not by %s", d.APIVersion,
			l.introduced, release), "write the version that release serves, or raise --kubernetes-version"
	case l.removed > 0 && v >= l.removed:
		out.Message = fmt.Sprintf("%s is not served by Kubernetes %s: it was removed in 1.%d", d.APIVersion, release,
			l.removed)
	case l.deprecated > 0 && v >= l.deprecated:
		out.Severity = lint.Warning
		out.Message = fmt.Sprintf("%s is deprecated in Kubernetes %s, and not served from 1.%d on", d.APIVersion,
			release, l.removed)
	default:
		return lint.Diagnostic{}
	}
	return out
}

// oldestRelease is the oldest minor release of Kubernetes that is still maintained.
const oldestRelease = 34

// unreadVersion tells of versions of known kinds that nothing serves.
func unreadVersion(p *lint.Pass, d *source.Document) {
	gv, err := schema.ParseGroupVersion(d.APIVersion)
	if err != nil {
		return
	}
	kind, ok := cluster.FindKind(schema.GroupKind{Group: gv.Group, Kind: d.Kind})
	if !ok || slices.Contains(kind.Versions, gv.Version) {
		return
	}
	p.Report(lint.Diagnostic{At: writtenVersion(d), Severity: lint.Error,
		Message: fmt.Sprintf("there is no %s in version %s", d.Kind, d.APIVersion),
		Help:    "the versions are " + strings.Join(kind.Versions, ", ")})
}
