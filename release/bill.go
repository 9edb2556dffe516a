package main

import (
	"bytes"
	"cmp"
	"debug/buildinfo"
	"fmt"
	"slices"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// used is a module that is linked into the program.
type used struct{ path, version, sum string }

func (u used) purl() string { return "pkg:golang/" + u.path + "@" + u.version }

// bill is the program's bill of materials, as CycloneDX, from what the Go linker recorded in it.
func (r *release) bill(p platform, binary string) ([]byte, []used, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, nil, err
	}
	modules := []used{{"stdlib", info.GoVersion, ""}}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		modules = append(modules, used{m.Path, m.Version, m.Sum})
	}
	slices.SortFunc(modules, func(a, b used) int { return cmp.Compare(a.path, b.path) })

	self := used{path: module, version: r.version}
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{
		Timestamp: r.time.Format(time.RFC3339),
		Component: &cdx.Component{BOMRef: self.purl(), Type: cdx.ComponentTypeApplication, Name: program,
			Version:    r.version,
			PackageURL: self.purl() + fmt.Sprintf("?goos=%s&goarch=%s#cmd/%s", p.os, p.arch, program)},
	}
	components, refs := []cdx.Component{}, []string{}
	for _, m := range modules {
		c := cdx.Component{BOMRef: m.purl(), Type: cdx.ComponentTypeLibrary, Name: m.path, Version: m.version,
			PackageURL: m.purl(), Scope: cdx.ScopeRequired}
		if m.sum != "" {
			c.Properties = &[]cdx.Property{{Name: "go:sum", Value: m.sum}}
		}
		components, refs = append(components, c), append(refs, m.purl())
	}
	bom.Components = &components
	bom.Dependencies = &[]cdx.Dependency{{Ref: self.purl(), Dependencies: &refs}}
	var out bytes.Buffer
	err = cdx.NewBOMEncoder(&out, cdx.BOMFileFormatJSON).SetPretty(true).SetEscapeHTML(false).EncodeVersion(bom,
		cdx.SpecVersion1_6)
	return out.Bytes(), modules, err
}
