package e2e

import (
	"bufio"
	"strings"
	"testing"

	"github.com/gpu-quota/kubectl-gpu-quota/test/e2e/controlplane"
)

// A job that waits is explained until it is admitted, because another one has ended.
func TestWatch(t *testing.T) {
	cp := sharedControlPlane(t, read(t, walkthrough("claim-template", "kueue.yaml")))
	t.Cleanup(func() { clear(t, cp) })
	apply(t, cp, read(t, walkthrough("claim-template", "cluster.yaml"), fixture("over-quota/1-three-gpus.yaml")))
	awaitDecision(t, cp, "three", want{state: "Admitted"})
	apply(t, cp, read(t, fixture("over-quota/2-two-gpus.yaml")))
	awaitDecision(t, cp, "two", want{state: "Pending"})

	watch := command(short(t), t.TempDir(), cp.Kubeconfig(controlplane.Admin), "gpu-quota", "explain", "job/two", "-n", "team", "--watch",
		"-o", `jsonpath={.items[0].reported.state} {.items[0].charge.published}{"\n"}`)
	stdout, err := watch.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := watch.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	if !lines.Scan() || !strings.HasPrefix(lines.Text(), "Pending") {
		t.Fatalf("the first explanation is %q, want that it is pending", lines.Text())
	}
	if err := cp.DeleteAll(short(t), "batch/v1", "Job", "three"); err != nil {
		t.Fatal(err)
	}
	// No garbage collector runs here that would do it.
	w, err := workloadOf(short(t), cp, "three")
	if err != nil {
		t.Fatal(err)
	}
	if err := cp.DeleteAll(short(t), kueueAPI, "Workload", w.Name); err != nil {
		t.Fatal(err)
	}
	last := ""
	for lines.Scan() {
		last = lines.Text()
	}
	if err := watch.Wait(); err != nil {
		t.Errorf("the watch ends with %v", err)
	}
	if want := `Admitted {"cpu":"1","memory":"2Gi","nvidia.com/gpu":"2"}`; last != want {
		t.Errorf("the last explanation is %q, want %q", last, want)
	}
}
