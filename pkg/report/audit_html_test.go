package report

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// tablesOf reads the tables of a page by the ID of their section: rows of cells, the titles first.
func tablesOf(t *testing.T, page []byte) map[string][][]string {
	t.Helper()
	page = regexp.MustCompile(`(?s)<(script|style)>.*?</(script|style)>`).ReplaceAll(page, nil)
	decoder := xml.NewDecoder(bytes.NewReader(page))
	decoder.Strict, decoder.Entity = false, xml.HTMLEntity
	out := map[string][][]string{}
	section, inside := "", false
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			switch e.Name.Local {
			case "section":
				section = e.Attr[0].Value
			case "tr":
				out[section] = append(out[section], nil)
			case "td", "th":
				row := &out[section][len(out[section])-1]
				*row, inside = append(*row, ""), true
			}
		case xml.EndElement:
			inside = inside && e.Name.Local != "td" && e.Name.Local != "th"
		case xml.CharData:
			if inside {
				row := out[section][len(out[section])-1]
				row[len(row)-1] += string(e)
			}
		}
	}
}

// fieldsOf is a list of the JSON as a table with the given fields; what is null is a question mark.
func fieldsOf(t *testing.T, report map[string]any, list string, fields ...string) [][]string {
	t.Helper()
	var out [][]string
	for _, item := range report[list].([]any) {
		var row []string
		for _, field := range fields {
			switch v := item.(map[string]any)[field].(type) {
			case nil:
				row = append(row, "?")
			case string:
				row = append(row, v)
			case float64:
				row = append(row, strconv.FormatFloat(v, 'f', -1, 64))
			}
		}
		out = append(out, row)
	}
	return out
}

// TestThePageShowsTheNumbersOfTheJSON reads every amount back from the page, whatever kinds the input holds.
func TestThePageShowsTheNumbersOfTheJSON(t *testing.T) {
	sums := []string{"reserved", "recomputed", "difference", "allocated", "pending"}
	for _, without := range [][]string{nil, {"Workload"}, {"ResourceSlice", "Node"}, {"ResourceClaim"}} {
		d := auditFixture(t, without...)
		tables := tablesOf(t, printedAudit(t, d, Options{Format: "html"}))
		var report map[string]any
		parse(t, printedAudit(t, d, Options{Format: "json"}), &report)
		for id, want := range map[string][][]string{
			"totals": fieldsOf(t, report, "totals", append([]string{"resource", "flavor", "published", "healthy", "allocatable", "nominal"}, sums...)...),
			"ledger": fieldsOf(t, report, "ledger", append(append([]string{"name", "kind", "cohort", "resource", "flavor", "total"}, sums...), "borrowed", "lent", "lentAtMost")...),
		} {
			var got [][]string
			for _, row := range tables[id][1:] {
				got = append(got, row[:len(want[0])])
			}
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("%s without %v (-json +page):\n%s", id, without, diff)
			}
		}
		for id, list := range map[string]string{"devices": "devices", "holders": "holders", "pending": "pending"} {
			if rows := max(0, len(tables[id])-1); rows != len(report[list].([]any)) {
				t.Errorf("%s without %v: %d rows, %d in the JSON", id, without, rows, len(report[list].([]any)))
			}
		}
	}
}

// TestThePageStandsAlone: no resource of another file or server, and no text of the input that becomes markup.
func TestThePageStandsAlone(t *testing.T) {
	d := auditFixture(t)
	d.value.Ledger[0].Name = `<script>alert("x")</script>`
	page := string(printedAudit(t, d, Options{Format: "html"}))
	for _, pattern := range []string{`(?i)\bsrc\s*=`, `(?i)<link\b`, `(?i)@import`, `(?i)url\(`, `(?i)href="[^#]`, `fetch\(|XMLHttpRequest|alert\("x"\)`} {
		if at := regexp.MustCompile(pattern).FindString(page); at != "" {
			t.Errorf("the page has %q", at)
		}
	}
	if !strings.Contains(page, "&lt;script&gt;alert") {
		t.Error("a name with markup is not on the page as text")
	}
}

// TestTheCSVHasPlainNumbers holds the ledger as CSV to that of the JSON.
func TestTheCSVHasPlainNumbers(t *testing.T) {
	d := auditOf(t, auditLayers(t, "ResourceClaim"), true)
	records, err := csv.NewReader(bytes.NewReader(printedAudit(t, d, Options{Format: "csv"}))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(records) != len(d.value.Ledger)+1 {
		t.Fatalf("%d records for %d rows", len(records), len(d.value.Ledger))
	}
	number := regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)
	for i, record := range records[1:] {
		l := d.value.Ledger[i]
		if record[1] != l.Name || record[3] != l.Flavor || record[4] != l.Resource {
			t.Errorf("record %q for %s %s %s", record, l.Name, l.Flavor, l.Resource)
		}
		for k, name := range ledgerColumns[6:] {
			if got := record[6+k]; !number.MatchString(got) && got != unknownCellText {
				t.Errorf("%s of %s is %q", name, l.Name, got)
			}
		}
		if record[11] != unknownCellText {
			t.Errorf("allocated of %s is %s without claims", l.Name, record[11])
		}
	}
}
