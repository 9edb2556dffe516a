package device

import (
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
)

// Row compiles selectors into a row for [Inventory.Match]; ok is false when one does not compile.
func (inv *Inventory) Row(selectors []resourcev1.DeviceSelector) (row []*Expression, ok bool) {
	for _, s := range selectors {
		if s.CEL == nil {
			continue
		}
		x := inv.Compile(s.CEL.Expression)
		if x.CompileError != "" {
			return nil, false
		}
		row = append(row, x)
	}
	return row, true
}

// AttributeText is the text of an attribute, whatever its domain; empty when the device has none. Where several domains
// have one, the first by name that is text.
func AttributeText(d *cluster.Device, name string) string {
	for _, a := range d.Attributes {
		_, id, found := strings.Cut(string(a.Name), "/")
		if !found {
			id = string(a.Name)
		}
		if id == name && a.Value.StringValue != nil {
			return *a.Value.StringValue
		}
	}
	return ""
}
