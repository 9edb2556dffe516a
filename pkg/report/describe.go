package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/charge"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/workload"
)

// shortName is how people write the job: `job/train`, with the replica where each is a workload of its own.
func shortName(c *charge.Charge) string {
	ref := subject(c)
	name := strings.ToLower(ref.Kind) + "/" + ref.Name
	return name + replica(c.Workload)
}

// fullName is the job in a sentence: `Job team-a/train`.
func fullName(c *charge.Charge) string { return subject(c).String() + replica(c.Workload) }

// inNamespace is the job in a table: `team-a/train`.
func inNamespace(c *charge.Charge) string {
	return c.Workload.Namespace + "/" + jobName(c) + replica(c.Workload)
}

func replica(w *workload.Workload) string {
	if w == nil || w.Index < 0 {
		return ""
	}
	return fmt.Sprintf(" [%d]", w.Index)
}

// amounts lists a charge, what accelerators are charged in first.
func (u Units) amounts(total charge.Amounts) []string {
	out := make([]string, 0, len(total))
	for _, name := range ordered(total) {
		out = append(out, clean(string(name))+" "+u.Format(name, total[name]))
	}
	return out
}

func ordered(total charge.Amounts) []corev1.ResourceName {
	return slices.SortedFunc(maps.Keys(total), compareResources)
}

func compareResources(a, b corev1.ResourceName) int {
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
}

// pods counts the pods charged.
func pods(c *charge.Charge) int64 {
	var n int64
	for _, ps := range c.PodSets {
		if n += ps.Count; n < 0 {
			return 1<<63 - 1
		}
	}
	return n
}

// look is how a verdict is shown.
type look struct {
	mark string
	role role
}

var verdictLooks = map[charge.Verdict]look{
	charge.Charged:      {"✓", normal},
	charge.Inadmissible: {"✗", bad},
	charge.Unmanaged:    {"•", faint},
	charge.Unknown:      {"?", faint},
}

// why says in a line each why a charge is not simply charged; empty for one that is.
func why(c *charge.Charge) []string {
	if c.Verdict == charge.Charged {
		return nil
	}
	var out []string
	for _, p := range c.Problems {
		text := p.Message
		if text == "" {
			text = p.KueueMessage
		}
		out = append(out, text)
	}
	if c.Workload == nil || c.Verdict == charge.Inadmissible {
		return out
	}
	if len(c.Missing) > 0 {
		out = append(out, "not in the input: "+strings.Join(c.Missing, ", "))
	}
	if c.Verdict == charge.Unknown && len(c.Published) > 0 {
		out = append(out, "charged "+strings.Join(published(c), ", ")+" at its admission (Workload status)")
	}
	for _, r := range c.Workload.Reasons {
		out = append(out, r.Text)
	}
	return out
}

var versionSources = map[config.VersionSource]string{
	config.VersionFromFlag:    "--kueue-version",
	config.VersionFromImage:   "manager's image",
	config.VersionFromConfig:  "configuration",
	config.VersionFromDefault: "assumed",
}

// drawKueue says for which Kueue a screen holds, what was assumed, and whether that Kueue would start at all.
func drawKueue(s *Screen, conf *config.Config) {
	text := "Kueue " + conf.Version
	if source, ok := versionSources[conf.VersionSource]; ok {
		text += " (" + source + ")"
	}
	if conf.From != "" {
		text += " · " + conf.From
	}
	s.remark(faint, "", text)
	for _, a := range conf.Assumptions {
		s.remark(faint, "note: ", a)
	}
	for _, p := range conf.Problems {
		text := p.Message
		if p.Path != "" && !strings.HasPrefix(text, p.Path) {
			text = p.Path + ": " + text
		}
		if file, line := place(p.Origin, p.Path); file != "" {
			text += fmt.Sprintf(" (%s:%d)", file, line)
		}
		s.remark(bad, "✗ Kueue would not start with this configuration: ", text)
	}
}

// remark writes a wrapped line of one colour.
func (s *Screen) remark(r role, label, text string) {
	for i, l := range wrapWords(label+clean(text), s.Width-2) {
		if i > 0 {
			l = "  " + l
		}
		s.line(s.paint(r, l))
	}
}

func joined(names []string) string { return strings.Join(names, ", ") }

// plural counts things: `1 workload`, `2 workloads`.
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
