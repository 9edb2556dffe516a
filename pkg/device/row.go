package device

import (
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
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
func AttributeText(d *resourcev1.Device, name string) string {
	var first resourcev1.QualifiedName
	text := ""
	for qualified, a := range d.Attributes {
		_, id, found := strings.Cut(string(qualified), "/")
		if !found {
			id = string(qualified)
		}
		if id == name && a.StringValue != nil && (first == "" || qualified < first) {
			first, text = qualified, *a.StringValue
		}
	}
	return text
}
