package main

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"text/template"
)

// manifest is the template of the krew manifest, from the root of the source tree, and its name in a release.
const manifest = "krew/gpu-quota.yaml"

var semver = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)

// tag is the version as krew wants it: a semantic one.
func (r *release) tag() string {
	if semver.MatchString(r.version) {
		return r.version
	}
	return "v0.0.0-" + regexp.MustCompile(`[^0-9A-Za-z.-]`).ReplaceAllString(r.version, "-")
}

// writeManifest fills in the krew manifest as krew's release automation does: with the version, and the address
// and checksum of each archive. Archives of platforms that were not built are left at zeros.
func (r *release) writeManifest() error {
	text, err := os.ReadFile(filepath.Join(r.root, manifest))
	if err != nil {
		return err
	}
	functions := template.FuncMap{"addURIAndSha": r.addressAndSum}
	t, err := template.New(manifest).Option("missingkey=error").Funcs(functions).Parse(string(text))
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := t.Execute(&out, struct{ TagName string }{r.tag()}); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, filepath.Base(manifest)), out.Bytes(), 0o644)
}

func (r *release) addressAndSum(address, tag string) (string, error) {
	t, err := template.New("address").Parse(address)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	if err := t.Execute(&out, struct{ TagName string }{tag}); err != nil {
		return "", err
	}
	name := path.Base(out.String())
	sum := fmt.Sprintf("%064d", 0)
	if slices.ContainsFunc(r.platforms, func(p platform) bool { return p.archive() == name }) {
		if sum, err = r.checksum(name); err != nil {
			return "", err
		}
	}
	// Quoted: a checksum of digits alone would be read as a number.
	return fmt.Sprintf("uri: %s\n    sha256: %q", out.String(), sum), nil
}
