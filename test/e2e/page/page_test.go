// Package page looks at the page of `audit -o html` in a browser.
package page

import (
	"context"
	"encoding/json"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"
)

const root = "../../.."

// browser is a Chromium. The page is plain HTML: without one its content is tested, but not that it works.
func browser(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no Chromium is installed here (the Debian package is chromium)")
	return ""
}

// audited is the page of the cluster in which little adds up.
func audited(t *testing.T) []byte {
	t.Helper()
	cmd := exec.Command("go", "run", "./cmd/kubectl-gpu_quota", "audit", "--from", "pkg/audit/testdata/cluster.yaml", "-o", "html")
	cmd.Dir, cmd.Stderr = root, os.Stderr
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-trimpath", "KUBECONFIG="+os.DevNull)
	page, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// chromium opens a page in a browser of its own.
func chromium(t *testing.T, page []byte, args ...string) (output []byte) {
	t.Helper()
	path := browser(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "audit.html")
	if err := os.WriteFile(file, page, 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	args = append([]string{"--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=" + filepath.Join(dir, "profile")}, args...)
	output, err := exec.CommandContext(ctx, path, append(args, "file://"+file)...).Output()
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return output
}

// ask runs a script in the page, which gives a value, and reads it into v.
func ask(t *testing.T, page []byte, script string, v any, args ...string) {
	t.Helper()
	page = append(slices.Clone(page), []byte(`<script>document.body.setAttribute("data-answer", JSON.stringify((() => {`+script+`})()));</script>`)...)
	dom := chromium(t, page, append(args, "--dump-dom")...)
	found := regexp.MustCompile(`data-answer="([^"]*)"`).FindSubmatch(dom)
	if found == nil {
		t.Fatalf("the script gave no answer: %.2000s", dom)
	}
	if err := json.Unmarshal([]byte(html.UnescapeString(string(found[1]))), v); err != nil {
		t.Fatal(err)
	}
}

// TestTablesSort presses the title of a column twice: amounts sort by what they are worth, not by their letters.
func TestTablesSort(t *testing.T) {
	browser(t)
	var answer struct{ Before, Up, Down []string }
	ask(t, audited(t), `
		const column = () => Array.from(document.querySelectorAll("#ledger tbody tr"), row => row.cells[5].textContent);
		const press = () => Array.from(document.querySelectorAll("#ledger thead button")).find(b => b.textContent === "total").click();
		const answer = {Before: column()};
		press(); answer.Up = column();
		press(); answer.Down = column();
		return answer;`, &answer)
	if !slices.Equal(answer.Up, slices.Concat(answer.Up[:slices.Index(answer.Up, "10Gi")], []string{"10Gi", "40Gi", "60Gi", "100Gi"})) {
		t.Errorf("ascending: %q", answer.Up)
	}
	if len(answer.Down) != len(answer.Before) || !slices.Equal(answer.Down[:4], []string{"100Gi", "60Gi", "40Gi", "10Gi"}) {
		t.Errorf("descending: %q", answer.Down)
	}
}

// TestDarkAndLight asks for the colours of the ground as the system and the button would have them.
func TestDarkAndLight(t *testing.T) {
	browser(t)
	page := audited(t)
	const script = `
		const ground = () => getComputedStyle(document.body).backgroundColor;
		const first = ground();
		document.getElementById("theme").click();
		return [first, ground()];`
	const light, dark = "rgb(255, 255, 255)", "rgb(21, 24, 28)"
	for scheme, want := range map[string][]string{"0": {dark, light}, "1": {light, dark}} {
		var got []string
		ask(t, page, script, &got, "--blink-settings=preferredColorScheme="+scheme)
		if !slices.Equal(got, want) {
			t.Errorf("scheme %s: the ground is %q, want %q", scheme, got, want)
		}
	}
}

// TestTheTreeHasABarForEveryQuota measures the bars as they are drawn.
func TestTheTreeHasABarForEveryQuota(t *testing.T) {
	browser(t)
	var answer map[string]float64
	ask(t, audited(t), `
		const answer = {};
		for (const bar of document.querySelectorAll("#tree .bar")) {
			const name = bar.closest("li").querySelector("summary b").textContent + " " + bar.closest("tr").querySelector("th").textContent;
			answer[name] = Math.round(100 * bar.firstElementChild.getBoundingClientRect().width / bar.clientWidth);
		}
		return answer;`, &answer)
	for name, want := range map[string]float64{"research gpu.memory a100": 30, "team-a gpu.memory a100": 50, "team-b gpu.memory a100": 0, "team-a whole-gpus h100": 100} {
		if got, ok := answer[name]; !ok || got != want {
			t.Errorf("the bar of %s is %v%% wide (drawn: %v), want %v%%", name, got, ok, want)
		}
	}
}

// TestItPrints makes a PDF of it.
func TestItPrints(t *testing.T) {
	browser(t)
	pdf := filepath.Join(t.TempDir(), "audit.pdf")
	chromium(t, audited(t), "--print-to-pdf="+pdf, "--no-pdf-header-footer")
	content, err := os.ReadFile(pdf)
	if err != nil {
		t.Fatal(err)
	}
	if len(content) < 10_000 || string(content[:5]) != "%PDF-" {
		t.Errorf("%d bytes that begin with %q", len(content), content[:min(8, len(content))])
	}
}
