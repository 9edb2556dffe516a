package report

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/audit"
	"github.com/gpu-quota/kubectl-gpu-quota/pkg/quota"
)

// ledgerColumns are the columns of the ledger in CSV. The names are those of the JSON.
var ledgerColumns = []string{
	"kind", "name", "cohort", "flavor", "resource", "nominal", "total", "reserved", "admitted", "recomputed",
	"difference", "allocated", "pending",
	"borrowed", "lent", "lentAtMost",
}

// unknownCellText stands in a cell that is not known, so that no sum takes it for nothing.
const unknownCellText = "unknown"

// writeAuditCSV writes the ledger for spreadsheets: amounts are plain numbers, in cores, bytes, or as many as there
// are.
func writeAuditCSV(w io.Writer, d *Audit) error {
	out := csv.NewWriter(w)
	if err := out.Write(ledgerColumns); err != nil {
		return err
	}
	for i, l := range d.value.Ledger {
		r := &d.report.Ledger[i]
		nominal := ""
		if r.Sets {
			nominal = plainAmount(r.Resource, r.Nominal)
		}
		record := []string{l.Kind, l.Name, l.Cohort, l.Flavor, l.Resource, nominal, plainAmount(r.Resource, r.Total)}
		for _, c := range []audit.Cell{r.Reserved, r.Admitted, r.Recomputed, r.Difference, r.Allocated, r.Pending,
			r.Borrowed, r.Lent, r.LentAtMost} {
			if !c.Known {
				record = append(record, unknownCellText)
				continue
			}
			record = append(record, plainAmount(r.Resource, c.Amount))
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// plainAmount is an amount without unit: cores as a decimal, everything else as an integer.
func plainAmount(name corev1.ResourceName, v quota.Amount) string {
	if name != corev1.ResourceCPU {
		return strconv.FormatInt(int64(v), 10)
	}
	text := strconv.FormatFloat(float64(v)/1000, 'f', 3, 64)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}
