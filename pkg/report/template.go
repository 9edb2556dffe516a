package report

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/printers"
)

// templateKinds are the formats that take a template.
var templateKinds = []string{"jsonpath", "jsonpath-file", "jsonpath-as-json", "go-template", "go-template-file",
	"template", "templatefile"}

// templatePrinter evaluates a JSONPath or Go template over the whole result, with kubectl's own printers.
type templatePrinter struct{ delegate printers.ResourcePrinter }

func newTemplatePrinter(kind, format string) (Printer, error) {
	toPrinter := genericclioptions.NewGoTemplatePrintFlags().ToPrinter
	if strings.HasPrefix(kind, "jsonpath") {
		toPrinter = genericclioptions.NewJSONPathPrintFlags("", true).ToPrinter
	}
	delegate, err := toPrinter(format)
	if err != nil {
		return nil, err
	}
	return templatePrinter{delegate}, nil
}

// Print implements [Printer].
func (p templatePrinter) Print(w io.Writer, d Document) error {
	var buf bytes.Buffer
	if err := (jsonPrinter{}).Print(&buf, d); err != nil {
		return err
	}
	object := map[string]any{}
	if err := json.Unmarshal(buf.Bytes(), &object); err != nil {
		return fmt.Errorf("reading back the result: %w", err)
	}
	out := bufio.NewWriter(w)
	if err := p.delegate.PrintObj(&unstructured.Unstructured{Object: object}, out); err != nil {
		return err
	}
	return out.Flush()
}
