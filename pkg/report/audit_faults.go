package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

func (d *Audit) drawUnknown(s *Screen) {
	texts := d.unknownTexts()
	if len(texts) == 0 {
		return
	}
	s.section("NOT KNOWN", "shown as ?")
	for _, text := range texts {
		s.paragraphIn(s.paint(faint, "    ? "), 6, normal, text)
	}
}

// unknownTexts say what is not known: columns, and rules of lint.
func (d *Audit) unknownTexts() []string {
	var out []string
	for _, u := range d.value.Unknown {
		out = append(out, unknownText(u))
	}
	if n := len(d.report.Findings.Unevaluated); n > 0 {
		out = append(out, countOf(n, "rule")+" of lint not evaluated: "+
			strings.Join(unevaluated(d.report.Findings.Unevaluated), " · "))
	}
	return out
}

// unknownText says what of a column is not known and what would tell it.
func unknownText(u UnknownColumn) string {
	text := u.Column
	const most = 4
	switch n := len(u.In); {
	case n > most:
		text += fmt.Sprintf(" of %s and %d more", strings.Join(u.In[:most], ", "), n-most)
	case n > 0:
		text += " of " + strings.Join(u.In, ", ")
	}
	if len(u.Missing) > 0 {
		text += ": no " + strings.Join(u.Missing, ", ") + " in the input"
	}
	if u.Why != "" {
		text += ": " + u.Why
	}
	if slices.Contains(u.Missing, cluster.KueueConfiguration.Kind) {
		text += "; give it with --kueue-config"
	}
	if u.Get != "" {
		text += "; get it with: " + u.Get
	}
	return text
}

// drawFaults names everything that does not add up.
func (d *Audit) drawFaults(s *Screen) {
	faults := d.faultTexts()
	if len(faults) == 0 {
		return
	}
	s.section("WHAT DOES NOT ADD UP", "")
	for _, f := range faults {
		s.paragraphIn(s.paint(severityRoles[f.severity], "    "+issueMarks[f.severity]+" "), 6, normal, f.text)
	}
}

// faultTexts are the charges that differ, the devices that no quota counts, and the rest.
func (d *Audit) faultTexts() []faultText {
	var out []faultText
	for _, x := range d.value.Differences {
		out = append(out, faultText{lint.Warning, x.Reason, fmt.Sprintf("%s holds %s of %s, and would be charged %s "+
			"now: %s", fullName(x.charge), x.Reserved, x.Resource, x.Recomputed, x.Message)})
	}
	for _, x := range d.value.Uncounted {
		out = append(out, faultText{lint.Warning, "Uncounted", uncountedText(x)})
	}
	for _, i := range d.value.Issues {
		text := i.Message
		if i.Object != nil && i.Object.Name != "" {
			text = i.Object.String() + ": " + text
		}
		out = append(out, faultText{lint.Severity(i.Severity), i.Kind, text})
	}
	return out
}

func uncountedText(x UncountedDevices) string {
	of := x.Resource
	if x.Class != "" {
		of = "class " + x.Class
	}
	return fmt.Sprintf("%s uses %s of %s that no quota counts: %s", x.Object, countOf(int(x.Devices), "device"), of,
		x.Why)
}

// issueMarks tell severities apart without colour.
var issueMarks = map[lint.Severity]string{lint.Error: "✗", lint.Warning: "!", lint.Info: "•"}
