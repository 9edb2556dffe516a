package source
import ("testing";"strings";"os";"fmt";"time";"runtime")
func rss() string { b,_:=os.ReadFile("/proc/self/status"); for _,l:=range strings.Split(string(b),"\n"){ if strings.HasPrefix(l,"VmHWM"){return l}}; return ""}
func TestMem(t *testing.T){
 in := map[string]string{
 "ones":"a: ["+strings.Repeat("1,",1<<22-100)+"1]",
 "maps":"a: ["+strings.Repeat("{a: 1},",(1<<22)/4)+"1]",
 "empties":"a: ["+strings.Repeat("{},",(1<<22)/2-100)+"1]",
 "lines":"a:\n"+strings.Repeat("- a\n",(1<<22)/2-100),
 "deepmaps": strings.Repeat("a:\n"+strings.Repeat(" ",0),1),
 "keys":func() string{var b strings.Builder; for i:=range 1<<20 { fmt.Fprintf(&b,"k%d: 1\n",i)}; return b.String()}(),
 "text":"a: |\n"+strings.Repeat("  "+strings.Repeat("x",4000)+"\n",16000),
 "esc": "a: \""+strings.Repeat("\\x01",16<<20-10)+"\"",
 }[os.Getenv("CASE")]
 t0:=time.Now()
 runtime.GC()
 j,err:=toJSON([]byte(in))
 fmt.Println(os.Getenv("CASE"), len(in)>>20,"MB", len(j)>>20, err, time.Since(t0), rss())
}
