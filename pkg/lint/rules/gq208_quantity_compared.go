package rules

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/device"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

var quantityCompared = &lint.Rule{
	ID: "GQ208", Name: "quantity-compared", Severity: lint.Error,
	Doc: lint.Doc{
		Title: "A quantity is compared as a string, or with an operator quantities do not have",
		Why: "Capacities are quantities: they are compared with compareTo, isGreaterThan and isLessThan, or with == " +
			"to a quantity. With a string on the other side the selector does not compile, or compares letters " +
			"(\"9Gi\" is above \"80Gi\").",
		Bad:   "cel: {expression: 'device.capacity[\"gpu.nvidia.com\"].memory >= \"80Gi\"'}\n",
		Good:  "cel: {expression: 'device.capacity[\"gpu.nvidia.com\"].memory.compareTo(quantity(\"80Gi\")) >= 0'}\n",
		Since: "Kubernetes 1.31",
		Links: []string{"https://kubernetes.io/docs/reference/using-api/cel/#kubernetes-quantity-library"},
	},
	Check: func(p *lint.Pass) {
		for _, s := range p.Selectors() {
			for _, u := range p.Uses(s.Text) {
				if message := miscompared(u); message != "" {
					p.Report(lint.Diagnostic{At: s.At, Message: message, Help: rightForm(p, s), Fix: formFix(p, s)})
				}
			}
		}
	},
}

func miscompared(u device.Use) string {
	ordering := u.Operator != "" && u.Operator != "==" && u.Operator != "!="
	amount := u.Map == "capacity" || u.ID == "quantity" || u.Domain == "memory" && u.Map == "attributes"
	_, err := resource.ParseQuantity(u.Literal)
	switch {
	case u.Operator == "" || u.Map == "driver":
	case u.Type == "string" && u.Literal != "" && err == nil && (amount || ordering):
		return fmt.Sprintf("a quantity is compared with the string %q by %s", u.Literal, u.Operator)
	case ordering && (u.Type == "quantity" || u.Map == "capacity"):
		return fmt.Sprintf("quantities can't be compared by %s", u.Operator)
	}
	return ""
}
