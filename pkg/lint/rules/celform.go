package rules

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

// These are the forms of selectors that are written for APIs that never were, or no longer are.
var (
	// asDomain: device.attributes["memory"].quantity >= "80Gi", device.attributes["model"].string == "A100"
	asDomain = regexp.MustCompile(`device\.(attributes|capacity)(?:\[(?:"([A-Za-z_]\w*)"|'([A-Za-z_]\w*)')\]|\.([A-Za-z_]\w*))\.(string|int|bool|version|quantity|value)\b(?:\s*(==|!=|>=|<=|>|<)\s*("[^"]*"|'[^']*'|quantity\((?:"[^"]*"|'[^']*')\)|[\w.]+))?`)
	// capacityCompared: device.capacity["gpu.example.com"].memory >= "80Gi"
	capacityCompared = regexp.MustCompile(`(device\.capacity\[(?:"[^"]+"|'[^']+')\]\.\w+)(?:\.(?:quantity|value))?\s*(==|!=|>=|<=|>|<)\s*(?:quantity\()?("[^"]*"|'[^']*')\)?`)
	// typeMember: device.attributes["gpu.example.com"].model.string
	typeMember = regexp.MustCompile(`(device\.attributes\[(?:"[^"]*\.[^"]*"|'[^']*\.[^']*')\]\.\w+)\.(?:string|int|bool|version|stringValue|intValue|boolValue)\b`)
	// slashed: device.attributes["gpu.example.com/model"]
	slashed = regexp.MustCompile(`device\.(attributes|capacity)\[(?:"([^"/]+)/(\w+)"|'([^'/]+)/(\w+)')\]`)
)

// celComment is a line of a selector that is a comment. On one line it would hide the rest.
var celComment = regexp.MustCompile(`(?m)^\s*//.*$`)

// corrected rewrites what is written in one of these forms. ok is false when nothing is, or the result does not
// compile.
func corrected(p *lint.Pass, s lint.Selector) (text string, ok bool) {
	return correctedWith(p, driverFor(p, s), s)
}

// correctedWith is corrected with a driver for the names that lack one.
func correctedWith(p *lint.Pass, driver string, s lint.Selector) (text string, ok bool) {
	text = asDomain.ReplaceAllStringFunc(s.Text,
		func(m string) string { return rewriteDomain(asDomain.FindStringSubmatch(m), driver) })
	text = typeMember.ReplaceAllString(text, "$1")
	text = slashed.ReplaceAllStringFunc(text, func(m string) string {
		part := slashed.FindStringSubmatch(m)
		return fmt.Sprintf("device.%s[%q].%s", part[1], part[2]+part[4], part[3]+part[5])
	})
	text = capacityCompared.ReplaceAllString(text, "$1.compareTo(quantity($3)) $2 0")
	for _, former := range slices.Sorted(maps.Keys(formerDrivers)) {
		text = strings.ReplaceAll(text, former, formerDrivers[former])
	}
	if text == s.Text {
		return "", false
	}
	detail, _ := p.CompileNew(text)
	return text, detail == ""
}

// rewriteDomain gives a name its domain. Amounts are capacities, everything else is an attribute.
func rewriteDomain(m []string, driver string) string {
	name, member, operator, operand := m[2]+m[3]+m[4], m[5], m[6], m[7]
	if member == "quantity" || m[1] == "capacity" {
		at := fmt.Sprintf("device.capacity[%q].%s", driver, name)
		if operator == "" {
			return at
		}
		if strings.HasPrefix(operand, "quantity(") {
			return fmt.Sprintf("%s %s %s", at, operator, operand) // put right as a capacity that is compared
		}
		return fmt.Sprintf("%s.compareTo(quantity(%s)) %s 0", at, operand, operator)
	}
	at := fmt.Sprintf("device.attributes[%q].%s", driver, name)
	switch {
	case operator == "":
		return at
	case member == "version" && !strings.HasPrefix(operand, "semver("):
		return fmt.Sprintf("%s.compareTo(semver(%s)) %s 0", at, operand, operator)
	}
	return fmt.Sprintf("%s %s %s", at, operator, operand)
}

// placeholder stands for a driver that can't be told.
const placeholder = "DRIVER"

// driverFor finds the driver whose devices a selector is for: named in it, in its class, or the only one that publishes
// devices.
func driverFor(p *lint.Pass, s lint.Selector) string {
	texts := []string{s.Text}
	if class, _, ok := cluster.Lookup[*resourcev1.DeviceClass](p.Snapshot, cluster.DeviceClass, "", s.Class); ok {
		for _, c := range class.Spec.Selectors {
			if c.CEL != nil {
				texts = append(texts, c.CEL.Expression)
			}
		}
	}
	if s.Driver != "" {
		return rightDriver(p, s.Driver)
	}
	for _, text := range texts {
		for _, u := range p.Uses(text) {
			switch {
			case u.Map == "driver" && u.Operator == "==" && u.Type == "string":
				return rightDriver(p, u.Literal)
			case u.Map != "driver" && strings.Contains(u.Domain, ".") && !strings.Contains(u.Domain, "/"):
				return rightDriver(p, u.Domain)
			}
		}
	}
	if all := published(p); len(all) == 1 {
		return rightDriver(p, all[0])
	}
	if strings.HasSuffix(s.Class, ".nvidia.com") {
		return "gpu.nvidia.com"
	}
	return placeholder
}

// rightForm is the help for a selector in a wrong form.
func rightForm(p *lint.Pass, s lint.Selector) string {
	text, ok := corrected(p, s)
	if !ok {
		return "the form is device.attributes[\"DRIVER\"].NAME for attributes, " +
			"device.capacity[\"DRIVER\"].NAME.compareTo(quantity(\"80Gi\")) >= 0 for amounts"
	}
	return "write " + strings.Join(strings.Fields(celComment.ReplaceAllString(text, "")), " ")
}

// formFix replaces the selector. It is safe where the driver is known.
func formFix(p *lint.Pass, s lint.Selector) *lint.Fix {
	driver := driverFor(p, s)
	return p.Rewrite(s.At, s.Text, func(text string) (string, bool) {
		s.Text = text
		now, ok := correctedWith(p, driver, s)
		return now, ok && !strings.Contains(now, placeholder)
	}, "write the selector as the API reads it")
}
