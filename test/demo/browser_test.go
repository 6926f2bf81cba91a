//go:build long

package demo

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"locus/internal/test/process"
	"locus/test/suites/stand"
)

// browser is a Chromium that is driven by its own protocol, over a pipe.
type browser struct {
	t       *testing.T
	cmd     *exec.Cmd
	to      *os.File
	session string

	mu      sync.Mutex // guards the fields below
	last    int
	waiting map[int]chan reply
}

type reply struct {
	ID     int
	Result json.RawMessage
	Error  *struct{ Message string }
}

// openBrowser opens a page that is empty. Chromium is Debian's package.
func openBrowser(t *testing.T) *browser {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatalf("%v: test/install/suites.sh browser", err)
	}
	readCommands, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	from, writeReplies, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	b := &browser{t: t, to: to, waiting: map[int]chan reply{}, cmd: exec.Command(path, "--headless", "--no-sandbox", "--disable-gpu",
		"--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
		"--remote-debugging-pipe", "--user-data-dir="+t.TempDir(), "about:blank")}
	b.cmd.ExtraFiles = []*os.File{readCommands, writeReplies}
	b.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := b.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = readCommands.Close(), writeReplies.Close()
	var reading sync.WaitGroup
	reading.Go(func() { b.read(from) })
	t.Cleanup(func() {
		_ = syscall.Kill(-b.cmd.Process.Pid, syscall.SIGKILL)
		_ = b.cmd.Wait()
		_ = to.Close()
		_ = from.Close()
		reading.Wait()
	})
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	b.call("Page.enable", nil, nil)
	return b
}

func (b *browser) read(from *os.File) {
	in := bufio.NewReaderSize(from, 1<<20)
	for {
		text, err := in.ReadBytes(0)
		if err != nil {
			return
		}
		var r reply
		if json.Unmarshal(bytes.TrimRight(text, "\x00"), &r) != nil || r.ID == 0 {
			continue // an event
		}
		b.mu.Lock()
		waits := b.waiting[r.ID]
		delete(b.waiting, r.ID)
		b.mu.Unlock()
		if waits != nil {
			waits <- r
		}
	}
}

func (b *browser) call(method string, params map[string]any, result any) {
	b.t.Helper()
	if err := b.try(method, params, result); err != nil {
		b.t.Fatal(err)
	}
}

// try is call, and returns the browser's error.
func (b *browser) try(method string, params map[string]any, result any) error {
	b.t.Helper()
	answer := make(chan reply, 1)
	b.mu.Lock()
	b.last++
	id := b.last
	b.waiting[id] = answer
	b.mu.Unlock()
	command := map[string]any{"id": id, "method": method, "params": params}
	if params == nil {
		command["params"] = map[string]any{}
	}
	if b.session != "" {
		command["sessionId"] = b.session
	}
	text, err := json.Marshal(command)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.to.Write(append(text, 0)); err != nil {
		b.t.Fatal(err)
	}
	select {
	case r := <-answer:
		if r.Error != nil {
			return fmt.Errorf("%s: %s", method, r.Error.Message)
		}
		if result != nil {
			return json.Unmarshal(r.Result, result)
		}
		return nil
	case <-time.After(process.Patience):
		return fmt.Errorf("%s: the browser doesn't answer", method)
	}
}

// eval runs a script in the page, and returns its value as text.
func (b *browser) eval(script string) string {
	b.t.Helper()
	var r struct {
		Result           struct{ Value any }
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	b.call("Runtime.evaluate", map[string]any{"expression": script, "returnByValue": true, "awaitPromise": true}, &r)
	if r.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", script, r.ExceptionDetails.Exception.Description)
	}
	if r.Result.Value == nil {
		return ""
	}
	return fmt.Sprint(r.Result.Value)
}

// until waits for a script to give something that counts as true.
func (b *browser) until(what, script string) {
	b.t.Helper()
	deadline := time.Now().Add(process.Patience)
	for last := ""; ; {
		if last = b.eval(script); last != "" && last != "false" && last != "0" {
			return
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("%s: %q\n%s", what, last, b.eval("document.body.innerText"))
		}
		time.Sleep(50 * time.Millisecond) //nolint:forbidigo // between two checks of the page
	}
}

func (b *browser) open(url string) {
	b.t.Helper()
	b.call("Page.navigate", map[string]any{"url": url}, nil)
	b.until("the page is loaded", `location.href !== "about:blank" && document.readyState === "complete"`)
}

// size sets the window, and the colours.
func (b *browser) size(width, height int, scheme string) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}, nil)
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]any{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

// press clicks an element with a real mouse event. It tries again if the element has moved before the click arrived.
func (b *browser) press(selector string) {
	b.t.Helper()
	find := fmt.Sprintf(`(() => { const e = document.querySelector(%q); if (!e) return "";
		e.scrollIntoView({block: "center"});
		const r = e.getClientRects()[0], x = r ? r.x + r.width / 2 : -1, y = r ? r.y + r.height / 2 : -1;
		if (!e.contains(document.elementFromPoint(x, y))) return "";
		window.pressed = false;
		e.addEventListener("click", () => { window.pressed = true; }, {once: true, capture: true});
		return JSON.stringify({X: x, Y: y}); })()`, selector)
	for deadline := time.Now().Add(process.Patience); ; {
		if place := b.eval(find); place != "" {
			var at struct{ X, Y float64 }
			if err := json.Unmarshal([]byte(place), &at); err != nil {
				b.t.Fatal(err)
			}
			for _, kind := range []string{"mousePressed", "mouseReleased"} {
				b.call("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": at.X, "y": at.Y, "button": "left", "clickCount": 1}, nil)
			}
			var missed struct{ Result struct{ Value bool } }
			err := b.try("Runtime.evaluate", map[string]any{"expression": "window.pressed === false", "returnByValue": true}, &missed)
			if err != nil || !missed.Result.Value { // an error: the click has opened another page
				return
			}
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("%s can't be pressed\n%s", selector, b.eval("document.body.innerText"))
		}
		time.Sleep(50 * time.Millisecond) //nolint:forbidigo // between two checks of the page
	}
}

// drag moves the mouse over an element with the button down, from one share of its width to another.
func (b *browser) drag(selector string, from, to float64) {
	b.t.Helper()
	var at struct{ X, Y, Width float64 }
	place := b.eval(fmt.Sprintf(`(() => { const e = document.querySelector(%q); e.scrollIntoView({block: "center"}); const r = e.getBoundingClientRect();
		return JSON.stringify({X: r.x, Y: r.y + r.height / 2, Width: r.width}); })()`, selector))
	if err := json.Unmarshal([]byte(place), &at); err != nil {
		b.t.Fatal(err)
	}
	for _, event := range []struct {
		kind string
		x    float64
	}{{"mousePressed", from}, {"mouseMoved", to}, {"mouseReleased", to}} {
		b.call("Input.dispatchMouseEvent", map[string]any{"type": event.kind, "x": at.X + event.x*at.Width, "y": at.Y, "button": "left", "buttons": 1, "clickCount": 1}, nil)
	}
}

// key presses a key on the focused element.
func (b *browser) key(name string) {
	b.t.Helper()
	codes := map[string]int{"Enter": 13, "Escape": 27, "ArrowRight": 39, "ArrowDown": 40}
	for _, kind := range []string{"keyDown", "keyUp"} {
		event := map[string]any{"type": kind, "key": name, "code": name, "windowsVirtualKeyCode": codes[name]}
		if name == "Enter" && kind == "keyDown" {
			event["text"] = "\r"
		}
		b.call("Input.dispatchKeyEvent", event, nil)
	}
}

func (b *browser) write(selector, text string) {
	b.t.Helper()
	b.eval(fmt.Sprintf(`(() => { const e = document.querySelector(%q); e.focus(); e.value = ""; })()`, selector))
	b.call("Input.insertText", map[string]any{"text": text}, nil)
}

func (b *browser) login(url, user, password string) {
	b.t.Helper()
	b.open(url)
	b.until("the login is asked for", `!!document.querySelector("#password")`)
	b.write("#user", user)
	b.write("#password", password)
	b.press("button.go")
	b.until("the dashboard is there", `document.querySelector("#state")?.textContent.startsWith("live")`)
}

// screenshot writes the whole page, if they are wanted.
func (b *browser) screenshot(name string) {
	b.t.Helper()
	dir := os.Getenv("LOCUS_SCREENSHOTS")
	if dir == "" {
		return
	}
	var shot struct{ Data string }
	b.call("Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": true}, &shot)
	png, err := base64.StdEncoding.DecodeString(shot.Data)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/"+name+".png", png, 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// part goes to a part of the page.
func (b *browser) part(name string) {
	b.t.Helper()
	b.press("#tab-" + name)
	b.until(name+" is there", fmt.Sprintf(`document.querySelector("#tab-%s[aria-current]") && document.querySelector("main").textContent.length > 20`, name))
}

// phase waits for a job's phase, as the page shows it.
func (b *browser) phase(job, want string) {
	b.t.Helper()
	b.until(job+" is "+want, fmt.Sprintf(`document.getElementById("phase-%s")?.textContent === %q`, job, want))
}

// order presses a job's button, fills in the arguments, and confirms.
func (b *browser) order(job, order string, arguments ...string) {
	b.t.Helper()
	b.press("#" + order + "-" + job)
	b.until("the dialog is open", `document.getElementById("ask").open`)
	for i, value := range arguments {
		b.write(fmt.Sprintf(`#ask .field:nth-of-type(%d) [data-argument]`, i+1), value)
	}
	b.press("#ask-yes")
	b.told()
}

// told waits until the page shows the answer to a command.
func (b *browser) told() {
	b.t.Helper()
	b.until("it is told", `document.getElementById("said").className !== ""`)
	if said := b.eval(`document.getElementById("said").textContent`); strings.HasPrefix(said, "Refused") {
		b.t.Fatal(said)
	}
	b.eval(`document.getElementById("said").className = document.getElementById("said").textContent = ""`)
}

// audit lets axe search for accessibility problems, in both colour schemes and at both widths.
func (b *browser) audit(where string) {
	b.t.Helper()
	script, err := os.ReadFile(filepath.Join(stand.Installed(b.t, "axe"), "node_modules/axe-core/axe.min.js"))
	if err != nil {
		b.t.Fatalf("%v: test/install/suites.sh browser", err)
	}
	b.eval(string(script) + "; 0")
	for _, look := range []string{"light", "dark"} {
		for _, width := range []int{1440, 390} {
			b.size(width, 900, look)
			found := b.eval(`axe.run(document, {resultTypes: ["violations"], rules: {"target-size": {enabled: true}}}).then(r => r.violations.filter(v => ["serious", "critical"].includes(v.impact))
				.map(v => v.id + ": " + v.help + ": " + v.nodes.slice(0, 3).map(n => n.html.slice(0, 200) + " " + (n.any[0]?.message ?? "")).join(" | ")).join("\n"))`)
			if found != "" {
				b.t.Errorf("%s, %s at %d pixels:\n%s", where, look, width, found)
			}
			if top := b.eval(`Math.round(document.getElementById("main").getBoundingClientRect().top + scrollY)`); width < 500 {
				if n, err := strconv.Atoi(top); err != nil || n > 844/3 {
					b.t.Errorf("%s: at %d pixels the content begins at %s", where, width, top)
				}
			}
			if wide := b.eval(`document.documentElement.scrollWidth`); wide != strconv.Itoa(width) {
				b.t.Errorf("%s: at %d pixels the page is %s wide", where, width, wide)
			}
		}
	}
	b.size(1440, 900, "light")
}

// weighs checks the size of a first load.
func (b *browser) weighs(url string) {
	b.t.Helper()
	b.call("Network.enable", nil, nil)
	b.call("Network.setCacheDisabled", map[string]any{"cacheDisabled": true}, nil)
	b.open(url)
	b.until("it is painted", `performance.getEntriesByName("first-contentful-paint").length`)
	b.until("it is drawn", `document.getElementById("verdict")?.textContent`)
	b.t.Log("page weight and first paint: " + b.eval(`(() => { const all = performance.getEntriesByType("resource").concat(performance.getEntriesByType("navigation"));
		return all.length + " files, " + Math.round(all.reduce((n, e) => n + e.encodedBodySize, 0) / 1024) + " KiB, first contentful paint after " + Math.round(performance.getEntriesByName("first-contentful-paint")[0].startTime) + " ms"; })()`))
	b.call("Network.setCacheDisabled", map[string]any{"cacheDisabled": false}, nil)
}

// secretOf reads one of a demo's secrets.
func secretOf(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(dir + "/secrets/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}
