package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/lint"
)

func (d *Audit) drawUnknown(s *Screen) {
	if len(d.value.Unknown)+len(d.value.UnknownRules) == 0 {
		return
	}
	s.section("NOT KNOWN", "shown as ?")
	for _, u := range d.value.Unknown {
		s.paragraphIn(s.paint(faint, "    ? "), 6, normal, unknownText(u))
	}
	if n := len(d.report.Findings.Unevaluated); n > 0 {
		s.paragraphIn(s.paint(faint, "    ? "), 6, normal, countOf(n, "rule")+" of lint not evaluated: "+strings.Join(unevaluated(d.report.Findings.Unevaluated), " · "))
	}
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

// drawFaults names everything that does not add up: charges, devices that no quota counts, and the rest.
func (d *Audit) drawFaults(s *Screen) {
	if d.faultCount() == 0 {
		return
	}
	s.section("WHAT DOES NOT ADD UP", "")
	for _, x := range d.value.Differences {
		s.fault(lint.Warning, fmt.Sprintf("%s holds %s of %s, and would be charged %s now (%s): %s", fullName(x.charge), x.Reserved, x.Resource, x.Recomputed, x.Reason, x.Message))
	}
	for _, x := range d.value.Uncounted {
		s.fault(lint.Warning, uncountedText(x))
	}
	for _, i := range d.value.Issues {
		text := i.Message
		if i.Object != nil && i.Object.Name != "" {
			text = i.Object.String() + ": " + text
		}
		s.fault(lint.Severity(i.Severity), text)
	}
}

func uncountedText(x UncountedDevices) string {
	of := x.Resource
	if x.Class != "" {
		of = "class " + x.Class
	}
	return fmt.Sprintf("%s uses %s of %s that no quota counts: %s", x.Object, countOf(int(x.Devices), "device"), of, x.Why)
}

// issueMarks tell severities apart without colour.
var issueMarks = map[lint.Severity]string{lint.Error: "✗", lint.Warning: "!", lint.Info: "•"}

func (s *Screen) fault(severity lint.Severity, text string) {
	s.paragraphIn(s.paint(severityRoles[severity], "    "+issueMarks[severity]+" "), 6, normal, text)
}
