package objects

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	configv1beta1 "sigs.k8s.io/kueue/apis/config/v1beta1"
	configapi "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// ConfigurationKey is the key of the manager's ConfigMap that holds its Configuration.
const ConfigurationKey = "controller_manager_config.yaml"

// NewScheme knows every type a Cluster may hold.
func NewScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, nodev1.AddToScheme, resourcev1.AddToScheme,
		kueue.AddToScheme, configapi.AddToScheme, configv1beta1.AddToScheme,
	} {
		utilruntime.Must(add(scheme))
	}
	return scheme
}

// Decode reads a dump: documents of YAML or JSON, Lists or single objects. Objects of a group, version and
// kind that Kueue's quota decisions do not read are left out. A dump without a Configuration gets Kueue's
// default one.
func Decode(dump []byte) (*Cluster, error) {
	decoder := &decoder{scheme: NewScheme(), cluster: &Cluster{}}
	reader := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(dump), 4096)
	for {
		var raw json.RawMessage
		err := reader.Decode(&raw)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if err := decoder.document(raw); err != nil {
			return nil, err
		}
	}
	if decoder.cluster.Configuration == nil {
		return decoder.cluster, decoder.configuration([]byte("{apiVersion: config.kueue.x-k8s.io/v1beta2, kind: " +
			"Configuration}"))
	}
	return decoder.cluster, nil
}

type decoder struct {
	scheme  *runtime.Scheme
	cluster *Cluster
}

func (d *decoder) document(raw json.RawMessage) error {
	var head struct {
		metav1.TypeMeta `json:",inline"`
		Items           []json.RawMessage `json:"items"`
	}
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return err
	}
	if head.Kind == "List" {
		for _, item := range head.Items {
			if err := d.document(item); err != nil {
				return err
			}
		}
		return nil
	}
	if head.Kind == "Configuration" {
		return d.configuration(raw)
	}
	return d.object(head.TypeMeta, raw)
}

func (d *decoder) object(kind metav1.TypeMeta, raw json.RawMessage) error {
	created, err := d.scheme.New(kind.GroupVersionKind())
	if runtime.IsNotRegisteredError(err) {
		return nil
	}
	if err != nil {
		return err
	}
	object, ok := created.(client.Object)
	if !ok {
		return nil
	}
	if err := json.Unmarshal(raw, object); err != nil {
		return fmt.Errorf("%s: %w", kind.Kind, err)
	}
	if configMap, ok := object.(*corev1.ConfigMap); ok {
		if text, ok := configMap.Data[ConfigurationKey]; ok {
			return d.configuration([]byte(text))
		}
		return nil
	}
	d.cluster.Objects = append(d.cluster.Objects, object)
	return nil
}

// configuration decodes as Kueue's manager does: strictly, converted, defaulted.
func (d *decoder) configuration(text []byte) error {
	codecs := serializer.NewCodecFactory(d.scheme, serializer.EnableStrict)
	configuration := &configapi.Configuration{}
	if err := runtime.DecodeInto(codecs.UniversalDecoder(), text, configuration); err != nil {
		return fmt.Errorf("the Configuration in ConfigMap kueue-manager-config: %w", err)
	}
	d.cluster.Configuration = configuration
	return nil
}
