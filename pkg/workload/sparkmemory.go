package workload

import (
	"cmp"
	"fmt"
	"math"
	"strconv"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/gpu-quota/kubectl-gpu-quota/pkg/cluster/crd"
)

// Spark's defaults for a driver or an executor.
const (
	sparkDefaultMemory   = "1g"
	sparkDefaultFactor   = 0.1
	sparkNonJVMFactor    = 0.4
	sparkSmallestHeadMiB = 384
)

// asSparkRequests is a driver or executor with the cpu and memory that Spark asks for: coreRequest, else cores, else 1;
// and the memory with its overhead, which is stated or a factor of it, and 384 MiB at least.
func asSparkRequests(app *crd.SparkApplicationSpec, role string, p *crd.SparkPod) (*crd.SparkPod, error) {
	out := *p
	conf := func(name string) string { return app.SparkConf[name] }
	property := "spark." + role + "."
	if out.CoreRequest == nil {
		cores := cmp.Or(conf("spark.kubernetes."+role+".request.cores"), coresText(p.Cores), conf(property+"cores"),
			"1")
		out.CoreRequest = &cores
	}
	memory, err := javaMiB(cmp.Or(deref(p.Memory, ""), conf(property+"memory"), sparkDefaultMemory))
	if err != nil {
		return nil, fmt.Errorf("its memory: %w", err)
	}
	head := int64(0)
	if stated := cmp.Or(deref(p.MemoryOverhead, ""), conf(property+"memoryOverhead")); stated != "" {
		if head, err = javaMiB(stated); err != nil {
			return nil, fmt.Errorf("its memoryOverhead: %w", err)
		}
	} else {
		factor, err := overheadFactor(app, role)
		if err != nil {
			return nil, err
		}
		head = max(int64(factor*float64(memory)), sparkSmallestHeadMiB)
	}
	total := fmt.Sprintf("%dm", memory+head)
	out.Memory = &total
	return &out, nil
}

func coresText(cores *int32) string {
	if cores == nil {
		return ""
	}
	return strconv.Itoa(int(*cores))
}

// overheadFactor is the share of the memory that is added to it.
func overheadFactor(app *crd.SparkApplicationSpec, role string) (float64, error) {
	text := cmp.Or(deref(app.MemoryOverheadFactor, ""), app.SparkConf["spark."+role+".memoryOverheadFactor"],
		app.SparkConf["spark.kubernetes.memoryOverheadFactor"])
	if text == "" {
		if app.Type == "Python" || app.Type == "R" {
			return sparkNonJVMFactor, nil
		}
		return sparkDefaultFactor, nil
	}
	factor, err := strconv.ParseFloat(text, 64)
	if err != nil || factor < 0 || factor > math.MaxInt32 {
		return 0, fmt.Errorf("memoryOverheadFactor %q is no number", text)
	}
	return factor, nil
}

// javaMiB reads a Java memory size in MiB, rounded down; a number alone is in MiB.
func javaMiB(text string) (int64, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, nil
	}
	q, err := resource.ParseQuantity(fromJavaMemory(text))
	if err != nil {
		return 0, fmt.Errorf("%q is no size of memory", text)
	}
	return q.Value() >> 20, nil
}
