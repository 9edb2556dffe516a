package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// k9sPlugin is what k9s reads of a plugin.
type k9sPlugin struct {
	ShortCut, Description, Command string
	Scopes, Args                   []string
	Background                     bool
}

// TestTheKeysOfK9sWork runs the commands behind the keys, as k9s does, on the demo cluster.
func TestTheKeysOfK9sWork(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "plugins", "k9s", "plugins.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Plugins map[string]k9sPlugin }
	if err := yaml.UnmarshalStrict(text, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Plugins) == 0 {
		t.Fatal("there are no plugins")
	}
	keys := map[string]string{} // by scope and key
	for name, p := range file.Plugins {
		t.Run(name, func(t *testing.T) {
			if p.ShortCut == "" || p.Description == "" || len(p.Scopes) == 0 || p.Command != "sh" || len(p.Args) != 2 {
				t.Fatalf("not a whole plugin: %+v", p)
			}
			for _, scope := range p.Scopes {
				if other := keys[scope+p.ShortCut]; other != "" {
					t.Errorf("%s does the same as %s in %s", p.ShortCut, other, scope)
				}
				keys[scope+p.ShortCut] = name
				if _, err := kindNamed(typeNames(), scope); err != nil && strings.Contains(p.Args[1], "$RESOURCE_NAME") {
					t.Errorf("the command does not know %s", scope)
				}
			}
			line, ok := strings.CutPrefix(p.Args[1], "kubectl gpu-quota ")
			line, _, piped := strings.Cut(line, " 2>&1 | less")
			if !ok || !piped {
				t.Fatalf("not a command of this program in a pager: %s", p.Args[1])
			}
			object := "notebook"
			if slices.Equal(p.Scopes, []string{"namespaces"}) {
				object = "team-a"
			}
			line = strings.NewReplacer(`"`, "", "$RESOURCE_NAME", "jobs", "$NAMESPACE", "team-a", "$NAME", object, "$CONTEXT", "here").Replace(line)
			out, errOut, code := run(t, append(strings.Fields(line), "--from", "demo")...)
			if code != 0 || !strings.Contains(out, "notebook") {
				t.Errorf("%s: exit %d, stderr %q, got:\n%s", line, code, errOut, out)
			}
		})
	}
}

func TestCompletionAsksTheCluster(t *testing.T) {
	server := apiServer(t, testdata(t, "cluster.yaml"), "/apis/kueue.x-k8s.io/v1beta2/namespaces/team-a/workloads")
	cases := map[string]struct {
		args []string
		want string
	}{
		"a job of the namespace":    {[]string{"explain", "-n", "team-a", "job/"}, "job/train\n:4\n"},
		"a job of any namespace":    {[]string{"explain", "-A", "job", "else"}, "elsewhere\n:4\n"},
		"what may not be listed":    {[]string{"charge", "-n", "team-a", "wl/"}, ":4\n"},
		"a namespace":               {[]string{"charge", "-n", "team-b"}, "team-b\n:4\n"},
		"a kind of no API":          {[]string{"charge", "podgroup/"}, ":4\n"},
		"what was named is no more": {[]string{"charge", "-n", "team-a", "job/train", "job/"}, ":4\n"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			args := slices.Insert(slices.Clone(c.args), 1, "--server", server.URL)
			out, _, code := run(t, append([]string{"__complete"}, args...)...)
			if out != c.want || code != 0 {
				t.Errorf("got %q (exit %d), want %q", out, code, c.want)
			}
		})
	}
}
