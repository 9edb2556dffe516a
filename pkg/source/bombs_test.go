package source

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// endless gives bytes without end.
type endless byte

func (e endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(e)
	}
	return len(b), nil
}

// bomb compresses size equal bytes.
func bomb(t testing.TB, c byte, size int64) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := zstd.NewWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(w, io.LimitReader(endless(c), size)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestBombs(t *testing.T) {
	within := limits{freely: 16 << 20, ratio: 800, members: 100, files: 100}
	const told = "cannot be unpacked: it unpacks to far more than its size"
	t.Run("white space without end", func(t *testing.T) {
		got := readWithin(t, within, "x", bomb(t, ' ', within.freely+1<<20))
		if !strings.Contains(got, "problem x: cannot read on: it unpacks") || !strings.Contains(got, "broke off: x: "+told) {
			t.Errorf("got:\n%s", got)
		}
	})
	t.Run("several in one archive", func(t *testing.T) {
		spaces := string(bomb(t, ' ', within.freely*3/4))
		got := readWithin(t, within, "x", tarOf(t, "a.yaml", objectText("a"), "b.json.zst", spaces, "c.json.zst", spaces, "d.yaml", objectText("d")))
		if !strings.HasPrefix(got, "x/a.yaml:1\n") || !strings.Contains(got, told) || strings.Contains(got, "d.yaml") {
			t.Errorf("got:\n%s", got)
		}
	})
	t.Run("as much, from a file as large", func(t *testing.T) {
		if got := readWithin(t, within, "x", tarOf(t, "a.json", strings.Repeat(" ", int(within.freely)*3), "b.yaml", objectText("b"))); got != "x/b.yaml:1\n" {
			t.Errorf("got:\n%s", got)
		}
	})
}

// TestXZWindow reads the window of the first block out of what xz writes.
func TestXZWindow(t *testing.T) {
	for _, window := range []int{4 << 10, 6 << 10, 8 << 20, 64 << 20} {
		text := compressed(t, []byte(objectText("a")), func(w io.Writer) (io.WriteCloser, error) { return xz.WriterConfig{DictCap: window}.NewWriter(w) })
		if got := xzWindow(text); got != int64(window) {
			t.Errorf("window %d, want %d", got, window)
		}
		large := bytes.Clone(text)
		large[bytes.Index(large, []byte{0x21, 1})+2] = 40
		if got := readPacked(t, "x", large); !strings.Contains(got, "x: cannot be unpacked: xz: it needs 4096 MiB of memory, more than 128") {
			t.Errorf("a window of 4 GiB: %s", got)
		}
	}
}

// TestManyStreams: each compressed stream takes memory and time, however little comes out of it.
func TestManyStreams(t *testing.T) {
	small := string(compressed(t, nil, zst))
	var files []string
	for range 50 {
		files = append(files, "a.yaml.zst", small)
	}
	within := limits{freely: 40 * streamCost, ratio: 20, members: 1000, files: 1000}
	if got := readWithin(t, within, "x", tarOf(t, files...)); !strings.Contains(got, "it unpacks to far more than its size") {
		t.Errorf("got:\n%s", got)
	}
}

// TestUsualLimitsHoldRealExports: a fleet of equal nodes is 215 times smaller after xz.
func TestUsualLimitsHoldRealExports(t *testing.T) {
	if usualLimits.ratio < 2*215 || usualLimits.files < 100_000 {
		t.Errorf("%+v are too narrow", usualLimits)
	}
}

func TestManyTinyFiles(t *testing.T) {
	var files []string
	for range 20 {
		files = append(files, "a.yaml", objectText("a"), "a.log", "")
	}
	cases := map[string]struct {
		within limits
		want   string
	}{
		"files":   {limits{freely: 1 << 20, ratio: 800, members: 100, files: 2}, "it has more than 2 files with objects; join those of a kind to lists, or unpack it"},
		"members": {limits{freely: 1 << 20, ratio: 800, members: 4, files: 100}, "it has more than 4 members"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			want := strings.Repeat("x/a.yaml:1\n", 2) + "problem x: cannot be unpacked: " + c.want + "\nbroke off: x: cannot be unpacked: " + c.want + "\n"
			if diff := cmp.Diff(want, readWithin(t, c.within, "x", tarOf(t, files...))); diff != "" {
				t.Errorf("read (-want +got):\n%s", diff)
			}
		})
	}
}
