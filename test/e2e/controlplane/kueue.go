package controlplane

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	syaml "sigs.k8s.io/yaml"
)

// ManagerNamespace is where Kueue's manager would run.
const ManagerNamespace = "kueue-system"

const (
	webhookService = "kueue-webhook-service"
	webhookSecret  = "kueue-webhook-server-cert"
	// namePrefix is put before the names in Kueue's manifests by its installation.
	namePrefix = "kueue-"
	configFile = "controller_manager_config.yaml"
)

// converted are the CRDs with a conversion webhook; Kueue does not start before it has put its certificate there.
var converted = map[string]bool{
	"clusterqueues.kueue.x-k8s.io": true, "cohorts.kueue.x-k8s.io": true, "localqueues.kueue.x-k8s.io": true,
	"multikueueclusters.kueue.x-k8s.io": true, "workloads.kueue.x-k8s.io": true,
}

// StartKueue runs Kueue's manager with a Configuration, in place of one that runs already. The objects of its
// installation are made as the release's manifests make them: CRDs, webhooks, Deployment and ConfigMap.
// Ports, certificates and addresses in the Configuration are set to those of this machine.
func (cp *ControlPlane) StartKueue(ctx context.Context, configuration []byte) error {
	cp.kueue.stop()
	cp.kueue = nil
	local, err := cp.localConfiguration(configuration)
	if err != nil {
		return err
	}
	if !cp.installed {
		if err := cp.install(ctx); err != nil {
			return err
		}
		cp.installed = true
	}
	if err := cp.DescribeKueue(ctx, local); err != nil {
		return err
	}
	path := filepath.Join(cp.dir, "kueue.yaml")
	if err := os.WriteFile(path, local, 0o644); err != nil {
		return err
	}
	cp.kueue, err = launch(cp.dir, "kueue", cp.Program("kueue"), "--config="+path, "--zap-log-level=2")
	if err != nil {
		return err
	}
	url := fmt.Sprintf("http://127.0.0.1:%d/readyz", cp.ports.health)
	return cp.kueue.awaitReady(ctx, func(ctx context.Context) error { return healthy(ctx, url, nil) })
}

// localConfiguration fits a Configuration to loopback.
func (cp *ControlPlane) localConfiguration(configuration []byte) ([]byte, error) {
	var c map[string]any
	if err := syaml.Unmarshal(configuration, &c); err != nil {
		return nil, fmt.Errorf("the Configuration of Kueue: %w", err)
	}
	c["namespace"] = ManagerNamespace
	c["health"] = map[string]any{"healthProbeBindAddress": fmt.Sprintf("127.0.0.1:%d", cp.ports.health)}
	c["metrics"] = map[string]any{"bindAddress": "0"}
	c["webhook"] = map[string]any{"host": "127.0.0.1", "port": cp.ports.webhook,
		"certDir": filepath.Join(cp.dir, "certs")}
	c["leaderElection"] = map[string]any{"leaderElect": false}
	gates, _ := c["featureGates"].(map[string]any)
	if gates == nil {
		gates = map[string]any{}
	}
	// The visibility server would need a port and an APIService of its own.
	gates["VisibilityOnDemand"] = false
	c["featureGates"] = gates
	return syaml.Marshal(c)
}

// install makes everything of Kueue's installation that does not depend on the Configuration.
func (cp *ControlPlane) install(ctx context.Context) error {
	if err := cp.InstallCRDs(ctx); err != nil {
		return err
	}
	secret := map[string][]byte{"ca.crt": cp.certs.ca, "ca.key": cp.certs.caKey, "tls.crt": cp.certs.cert,
		"tls.key": cp.certs.key}
	manifest, err := syaml.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Secret", "data": secret,
		"metadata": map[string]any{"name": webhookSecret, "namespace": ManagerNamespace},
	})
	if err != nil {
		return err
	}
	if err := cp.Apply(ctx, manifest); err != nil {
		return err
	}
	webhooks, err := os.ReadFile(cp.webhooks())
	if err != nil {
		return err
	}
	return cp.applyEach(ctx, webhooks, cp.fitWebhooks)
}

// InstallCRDs makes Kueue's CRDs and the namespace of its manager.
func (cp *ControlPlane) InstallCRDs(ctx context.Context) error {
	if err := cp.Apply(ctx,
		[]byte("apiVersion: v1\nkind: Namespace\nmetadata: {name: "+ManagerNamespace+"}\n")); err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(cp.crds(), "*.yaml"))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return errors.New("no CRDs of Kueue in " + cp.crds())
	}
	var names []string
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		err = cp.applyEach(ctx, content, func(o *unstructured.Unstructured) error {
			names = append(names, o.GetName())
			if !converted[o.GetName()] {
				return nil
			}
			return unstructured.SetNestedMap(o.Object, map[string]any{
				"strategy": "Webhook",
				"webhook": map[string]any{
					"clientConfig":             map[string]any{"url": cp.webhookURL("/convert")},
					"conversionReviewVersions": []any{"v1"},
				},
			}, "spec", "conversion")
		})
		if err != nil {
			return err
		}
	}
	return cp.awaitEstablished(ctx, names)
}

func (cp *ControlPlane) webhookURL(path string) string {
	return fmt.Sprintf("https://127.0.0.1:%d%s", cp.ports.webhook, path)
}

// fitWebhooks points webhooks at loopback, and leaves Kueue's own namespace out as its installation does.
func (cp *ControlPlane) fitWebhooks(o *unstructured.Unstructured) error {
	o.SetName(namePrefix + o.GetName())
	webhooks, _, err := unstructured.NestedSlice(o.Object, "webhooks")
	if err != nil {
		return err
	}
	for _, w := range webhooks {
		webhook := w.(map[string]any)
		path, _, err := unstructured.NestedString(webhook, "clientConfig", "service", "path")
		if err != nil {
			return err
		}
		webhook["clientConfig"] = map[string]any{"url": cp.webhookURL(path)}
		rules, _, err := unstructured.NestedSlice(webhook, "rules")
		if err != nil || len(rules) == 0 {
			return fmt.Errorf("webhook %v has no rules: %w", webhook["name"], err)
		}
		if groups, _, _ := unstructured.NestedStringSlice(rules[0].(map[string]any), "apiGroups"); len(groups) == 1 &&
			groups[0] != "kueue.x-k8s.io" {
			webhook["namespaceSelector"] = map[string]any{"matchExpressions": []any{map[string]any{
				"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": []any{"kube-system",
					ManagerNamespace},
			}}}
		}
	}
	return unstructured.SetNestedSlice(o.Object, webhooks, "webhooks")
}

// DescribeKueue makes the Deployment and the ConfigMap that say which Kueue runs and how, whether it runs or not.
func (cp *ControlPlane) DescribeKueue(ctx context.Context, configuration []byte) error {
	configMap, err := syaml.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": "kueue-manager-config", "namespace": ManagerNamespace},
		"data":     map[string]any{configFile: string(configuration)},
	})
	if err != nil {
		return err
	}
	if err := cp.Apply(ctx, configMap); err != nil {
		return err
	}
	return cp.Apply(ctx, fmt.Appendf(nil, `apiVersion: apps/v1
kind: Deployment
metadata:
  name: kueue-controller-manager
  namespace: %[1]s
  labels: {app.kubernetes.io/name: kueue, control-plane: controller-manager}
spec:
  replicas: 1
  selector: {matchLabels: {control-plane: controller-manager}}
  template:
    metadata:
      labels: {app.kubernetes.io/name: kueue, control-plane: controller-manager}
    spec:
      serviceAccountName: kueue-controller-manager
      containers:
      - name: manager
        image: registry.k8s.io/kueue/kueue:%[2]s
        command: [/manager]
        args: [--config=/%[3]s, --zap-log-level=2]
        volumeMounts:
        - {name: manager-config, mountPath: /%[3]s, subPath: %[3]s}
      volumes:
      - name: manager-config
        configMap: {name: kueue-manager-config}
`, ManagerNamespace, cp.Distribution.Kueue, configFile))
}

// applyEach applies the documents of a YAML text, each changed before.
func (cp *ControlPlane) applyEach(ctx context.Context, text []byte,
	change func(*unstructured.Unstructured) error) error {
	objects, err := Objects(text)
	if err != nil {
		return err
	}
	for _, o := range objects {
		if err := change(o); err != nil {
			return err
		}
		if err := cp.client.apply(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// Objects reads the documents of a YAML text.
func Objects(text []byte) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for {
		o := &unstructured.Unstructured{}
		switch err := decoder.Decode(&o.Object); {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, err
		case len(o.Object) > 0:
			out = append(out, o)
		}
	}
}
