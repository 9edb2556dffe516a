package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

func main() {
	lint := flag.String("lint", "", "the plugin")
	kubeconform := flag.String("kubeconform", "", "the program to compare with")
	dir := flag.String("dir", "", "directory for manifests and schemas")
	count := flag.Int("manifests", 5000, "how many manifests")
	runs := flag.Int("runs", 5, "how many runs of each, of which the median counts")
	flag.Parse()
	if err := compare(*lint, *kubeconform, *dir, *count, *runs); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// compare measures both programs, in turn, so that what else the machine does meets both.
func compare(lint, kubeconform, dir string, count, runs int) error {
	manifests, schemas := filepath.Join(dir, "manifests"), filepath.Join(dir, "schemas")
	if err := errors.Join(os.RemoveAll(manifests), writeManifests(manifests, count),
		writeSchemas(schemas)); err != nil {
		return err
	}
	commands := []struct {
		name string
		args []string
		took []time.Duration
		used []time.Duration
	}{
		{name: "lint", args: []string{lint, "lint", manifests, "-o", "name"}},
		{name: "kubeconform",
			args: []string{kubeconform, "-schema-location", filepath.Join(schemas, schemaPattern), manifests}},
	}
	for run := range runs + 1 { // the first one warms the file cache up
		for i := range commands {
			c := &commands[i]
			took, used, err := once(c.args)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			if run > 0 {
				c.took, c.used = append(c.took, took), append(c.used, used)
			}
		}
	}
	for _, c := range commands {
		fmt.Printf("%-12s %8s  processor time %8s  (median of %d runs over %d manifests)\n", c.name,
			median(c.took).Round(time.Millisecond), median(c.used).Round(time.Millisecond), runs, count)
	}
	ours, theirs := median(commands[0].took), median(commands[1].took)
	fmt.Printf("lint takes %.0f%% of the time of kubeconform\n", 100*float64(ours)/float64(theirs))
	if ours > theirs {
		return errors.New("lint is slower")
	}
	return nil
}

// once runs a command, which must end with 0: both find nothing wrong with the manifests.
func once(args []string) (took, used time.Duration, err error) {
	cmd := exec.Command(args[0], args[1:]...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	start := time.Now()
	err = cmd.Run()
	took = time.Since(start)
	if err != nil {
		return 0, 0, fmt.Errorf("%w: %.2000s", err, out.String())
	}
	return took, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}

func median(of []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[len(sorted)/2]
}
