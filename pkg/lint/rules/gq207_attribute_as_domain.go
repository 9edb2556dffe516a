package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var attributeAsDomain = &lint.Rule{
	ID: "GQ207", Name: "attribute-as-domain", Severity: lint.Error,
	Doc: lint.Doc{
		Title: "A selector takes an attribute's name for a domain, or its type for a member",
		Why: "device.attributes and device.capacity are indexed by the domain first, which is the driver's name, " +
			"then by the name. device.attributes[\"memory\"].quantity compiles, asks every device for an attribute " +
			"\"quantity\" of a domain \"memory\", and ends with an error on the first one: no workload that claims " +
			"it is ever admitted.",
		Bad:   "cel: {expression: 'device.attributes[\"memory\"].quantity >= \"80Gi\"'}\n",
		Good:  "cel: {expression: 'device.capacity[\"gpu.nvidia.com\"].memory.compareTo(quantity(\"80Gi\")) >= 0'}\n",
		Since: "Kubernetes 1.31",
		Links: []string{linkDRAAPI},
	},
	Check: func(p *lint.Pass) {
		for _, s := range p.Selectors() {
			for _, u := range p.Uses(s.Text) {
				if message := misread(u); message != "" {
					p.Report(lint.Diagnostic{At: s.At, Message: message, Help: rightForm(p, s), Fix: formFix(p, s)})
				}
			}
		}
	},
}

// typeMembers are the fields of an attribute in the API, which selectors do not have.
var typeMembers = []string{"string", "int", "bool", "version", "quantity", "value", "stringValue", "intValue",
	"boolValue", "versionValue"}

// misread says how a use takes a name for a domain or a type for a member; empty when it does not.
func misread(u device.Use) string {
	chain := append([]string{u.ID}, u.After...)
	last := chain[len(chain)-1]
	switch {
	case u.Map == "driver" || u.Domain == "":
		return ""
	case strings.Contains(u.Domain, "/"):
		domain, name, _ := strings.Cut(u.Domain, "/")
		return fmt.Sprintf("device.%s is indexed by domain, then by name: write device.%s[%q].%s", u.Map, u.Map, domain,
			name)
	case !strings.Contains(u.Domain, ".") && slices.Contains(typeMembers, u.ID):
		return fmt.Sprintf("device.%s[%q].%s reads %q as a domain and %q as a name: no device has that", u.Map,
			u.Domain, u.ID, u.Domain, u.ID)
	case !strings.Contains(u.Domain, ".") && u.ID == "" && u.Operator != "":
		return fmt.Sprintf("device.%s[%q] is a whole domain, not one value", u.Map, u.Domain)
	case len(u.After) > 0 && slices.Contains(typeMembers, last):
		return fmt.Sprintf("device.%s[%q].%s is the value itself: it has no member %q", u.Map, u.Domain, u.ID, last)
	}
	return ""
}
