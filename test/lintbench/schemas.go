package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/invopop/jsonschema"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	configapi "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// schemaPattern is where kubeconform finds the schema of a kind below the directory of schemas.
const schemaPattern = "{{.ResourceKind}}-{{.Group}}-{{.ResourceAPIVersion}}.json"

// kinds of the manifests, by the file of their schema.
var kinds = map[string]any{
	"namespace-v1-v1":                             &corev1.Namespace{},
	"job-batch-v1":                                &batchv1.Job{},
	"deployment-apps-v1":                          &appsv1.Deployment{},
	"deviceclass-resource.k8s.io-v1":              &resourcev1.DeviceClass{},
	"resourceslice-resource.k8s.io-v1":            &resourcev1.ResourceSlice{},
	"resourceclaimtemplate-resource.k8s.io-v1":    &resourcev1.ResourceClaimTemplate{},
	"clusterqueue-kueue.x-k8s.io-v1beta2":         &kueue.ClusterQueue{},
	"localqueue-kueue.x-k8s.io-v1beta2":           &kueue.LocalQueue{},
	"resourceflavor-kueue.x-k8s.io-v1beta2":       &kueue.ResourceFlavor{},
	"cohort-kueue.x-k8s.io-v1beta2":               &kueue.Cohort{},
	"configuration-config.kueue.x-k8s.io-v1beta2": &configapi.Configuration{},
}

// written are types that are written in another way than their fields say.
var written = map[reflect.Type]*jsonschema.Schema{
	reflect.TypeFor[resource.Quantity]():    {OneOf: []*jsonschema.Schema{{Type: "string"}, {Type: "number"}}},
	reflect.TypeFor[intstr.IntOrString]():   {OneOf: []*jsonschema.Schema{{Type: "string"}, {Type: "integer"}}},
	reflect.TypeFor[metav1.Time]():          {Type: "string"},
	reflect.TypeFor[metav1.MicroTime]():     {Type: "string"},
	reflect.TypeFor[metav1.Duration]():      {Type: "string"},
	reflect.TypeFor[metav1.FieldsV1]():      {Type: "object"},
	reflect.TypeFor[runtime.RawExtension](): {Type: "object"},
}

// writeSchemas writes one schema for each kind.
func writeSchemas(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, of := range kinds {
		r := &jsonschema.Reflector{RequiredFromJSONSchemaTags: true,
			Mapper: func(t reflect.Type) *jsonschema.Schema { return written[t] }}
		s := r.Reflect(of)
		s.Version, s.ID = "http://json-schema.org/draft-07/schema#", ""
		text, err := json.Marshal(s)
		if err != nil {
			return err
		}
		text = []byte(strings.ReplaceAll(strings.ReplaceAll(string(text), `"$defs"`, `"definitions"`), `#/$defs/`,
			`#/definitions/`))
		if err := os.WriteFile(filepath.Join(dir, name+".json"), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
