package remedy_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/admission"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/explain"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/kueue/config"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/remedy"
	"github.com/gpu-quota/kubectl-gpu-quota/test/corpus"
)

// TestASmallerSizeIsOffered: a workload that waits because its claim is charged for the largest of several partitions is
// told which size there is room for, where one is small enough.
func TestASmallerSizeIsOffered(t *testing.T) {
	const selectors = `          selectors:
          - cel:
              expression: device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('10Gi')) >= 0
`
	for name, c := range map[string]struct {
		replace []string
		want    string
	}{
		"the largest of those that fit": {want: `mig-at-least-10gi: add the selector device.attributes["gpu.nvidia.com"].profile == "3g.20gb"`},
		"beside no other selector":      {replace: []string{selectors, ""}, want: `mig-at-least-10gi: add the selector device.attributes["gpu.nvidia.com"].profile == "3g.20gb"`},
		"none, when none fits": {replace: []string{
			"      - name: gpu.memory\n        nominalQuota: \"40320Mi\"\n", "      - name: gpu.memory\n        nominalQuota: \"4864Mi\"\n",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			l := demoWith(t, c.replace...)
			explainer := remedy.New(explain.New(l.Snapshot, l.Config, admission.New(l.Engine, l.Charges)))
			for _, of := range l.Charges {
				if of.Workload.Owner == nil || of.Workload.Owner.Ref.Name != "notebook" {
					continue
				}
				x := explainer.Explain(of)
				if x.Predicted.State != explain.Pending {
					t.Fatalf("it is %s", x.Predicted.State)
				}
				i := slices.IndexFunc(x.Remedies, func(r explain.Remedy) bool { return strings.Contains(r.Action, "add the selector") })
				switch {
				case i < 0 && c.want != "":
					t.Errorf("not offered: %q", c.want)
				case i >= 0 && (c.want == "" || !strings.HasSuffix(x.Remedies[i].Action, c.want)):
					t.Errorf("offered %q, want %q", x.Remedies[i].Action, c.want)
				case i >= 0:
					if got := after(t, l, of, x.Remedies[i]); got != explain.Admitted {
						t.Errorf("with it, it is %s", got)
					}
				}
				return
			}
			t.Fatal("the demo has no job notebook")
		})
	}
}

// demoWith loads the demo cluster with texts replaced; each has to be there.
func demoWith(t *testing.T, replace ...string) corpus.Layers {
	t.Helper()
	files, err := filepath.Glob("../../demo/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var all []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(text))
	}
	text := strings.Join(all, "\n---\n")
	for i := 0; i+1 < len(replace); i += 2 {
		if !strings.Contains(text, replace[i]) {
			t.Fatalf("the demo does not hold %q", replace[i])
		}
		text = strings.ReplaceAll(text, replace[i], replace[i+1])
	}
	l, err := corpus.Load("demo.yaml", []byte(text), config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return l
}
