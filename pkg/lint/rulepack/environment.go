package rulepack

import (
	"fmt"
	"reflect"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/ext"
	"k8s.io/apiserver/pkg/cel/library"
)

// Limits of one evaluation. Costs are those of the CEL library: about one for each operation.
const (
	costLimit      = 1_000_000
	interruptEvery = 1000
)

// Names of the variables.
const (
	varObject  = "object"
	varCharge  = "charge"
	varQueue   = "queue"
	varCluster = "cluster"
)

// environment is the CEL environment of rules.
type environment struct{ *cel.Env }

func newEnv() (*environment, error) {
	env, err := cel.NewEnv(
		cel.CrossTypeNumericComparisons(true), cel.DefaultUTCTimeZone(true), cel.OptionalTypes(),
		ext.Strings(ext.StringsVersion(4)), ext.Lists(), ext.Sets(), ext.Bindings(), ext.TwoVarComprehensions(),
		library.Quantity(), library.Lists(), library.Regex(),
		// The provider of native types is laid over the libraries' own.
		ext.NativeTypes(ext.ParseStructTags(true), reflect.TypeFor[Charge](), reflect.TypeFor[PodSet](),
			reflect.TypeFor[Queue](), reflect.TypeFor[Cluster]()),
		cel.Variable(varObject, cel.MapType(cel.StringType, cel.DynType)),
		cel.Variable(varCharge, cel.ObjectType("rulepack.Charge")),
		cel.Variable(varQueue, cel.ObjectType("rulepack.Queue")),
		cel.Variable(varCluster, cel.ObjectType("rulepack.Cluster")),
	)
	if err != nil {
		return nil, fmt.Errorf("the environment of rule packs: %w", err)
	}
	return &environment{env}, nil
}
