package objects

import (
	"bytes"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	configapi "sigs.k8s.io/kueue/apis/config/v1beta2"
	"sigs.k8s.io/yaml"
)

// Encode writes the cluster as a List, one object a line, which is YAML as well as JSON.
func (c *Cluster) Encode() ([]byte, error) {
	scheme := NewScheme()
	manager, err := c.managerConfigMap()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	out.WriteString(`{"apiVersion":"v1","kind":"List","items":[` + "\n")
	if err := encodeObject(&out, scheme, manager); err != nil {
		return nil, err
	}
	for _, object := range c.Objects {
		out.WriteString(",\n")
		if err := encodeObject(&out, scheme, object); err != nil {
			return nil, err
		}
	}
	out.WriteString("\n]}\n")
	return out.Bytes(), nil
}

// managerConfigMap leaves out of the Configuration what does not decide about quota.
func (c *Cluster) managerConfigMap() (*corev1.ConfigMap, error) {
	document := map[string]any{"apiVersion": configapi.SchemeGroupVersion.String(), "kind": "Configuration"}
	if c.Configuration.Integrations != nil {
		document["integrations"] = map[string]any{"frameworks": c.Configuration.Integrations.Frameworks}
	}
	if c.Configuration.FairSharing != nil {
		document["fairSharing"] = c.Configuration.FairSharing
	}
	if c.Configuration.Resources != nil {
		document["resources"] = c.Configuration.Resources
	}
	if c.Configuration.FeatureGates != nil {
		document["featureGates"] = c.Configuration.FeatureGates
	}
	text, err := yaml.Marshal(document)
	if err != nil {
		return nil, err
	}
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kueue-system", Name: "kueue-manager-config"},
		Data:       map[string]string{ConfigurationKey: string(text)},
	}, nil
}

func encodeObject(out *bytes.Buffer, scheme *runtime.Scheme, object runtime.Object) error {
	kinds, _, err := scheme.ObjectKinds(object)
	if err != nil {
		return err
	}
	typed := object.DeepCopyObject()
	typed.GetObjectKind().SetGroupVersionKind(kinds[0])
	text, err := json.Marshal(typed)
	if err != nil {
		return err
	}
	_, err = out.Write(text)
	return err
}
