"""The few functions that run inside a page, as text.

`FIRE` runs in a world of its own, where the page's scripts have changed nothing; `TABLES` in the page's,
since frameworks keep what they attach where only it can see.  Neither changes the page by itself.
"""

from __future__ import annotations

__all__ = ["FIRE", "TABLES"]

FIRE = r"""
function (type, value, values) {
  const el = this, doc = el.ownerDocument || document, view = doc.defaultView || window;
  const box = el.getBoundingClientRect ? el.getBoundingClientRect() : {x: 0, y: 0, width: 0, height: 0};
  const at = {bubbles: true, cancelable: true, composed: true, view, detail: 1,
              clientX: box.x + box.width / 2, clientY: box.y + box.height / 2};
  const send = (target, event) => target.dispatchEvent(event);
  const put = (field, text) => {
    const proto = field instanceof HTMLTextAreaElement ? HTMLTextAreaElement : HTMLInputElement;
    if (field.isContentEditable) { field.textContent = text; }
    else { Object.getOwnPropertyDescriptor(proto.prototype, 'value').set.call(field, text); }
  };
  const announce = field => {
    send(field, new InputEvent('input', {bubbles: true, composed: true}));
    send(field, new Event('change', {bubbles: true}));
  };
  const guess = field => {
    const hint = [field.name, field.id, field.placeholder, field.getAttribute('aria-label'),
                  field.labels && field.labels[0] ? field.labels[0].textContent : ''].join(' ').toLowerCase();
    const row = values.find(([kind, word]) => (!kind || kind === field.type) && (!word || hint.includes(word)));
    return (row || ['', '', 'test'])[2];
  };
  const isText = field => (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement)
    && !['submit', 'button', 'reset', 'image', 'file', 'checkbox', 'radio', 'hidden'].includes(field.type);
  const fillNear = () => {
    for (let box = el.parentElement, up = 0; box && up < 3; box = box.parentElement, up++) {
      const fields = [...box.querySelectorAll('input, textarea')].filter(field => isText(field) && !field.form);
      for (const field of fields) {
        if (field.value || field.disabled || field.readOnly) continue;
        try { put(field, guess(field)); } catch (error) { /* takes none of these */ }
      }
      if (fields.length) return;
    }
  };
  const fill = form => {
    for (const field of form.elements) {
      if (field.disabled || field.readOnly || field.type === 'hidden') continue;
      if (field instanceof HTMLSelectElement) {
        if (!field.value) {
          const option = [...field.options].findIndex(o => o.value && !o.disabled);
          if (option >= 0) { field.selectedIndex = option; announce(field); }
        }
      } else if (field.type === 'checkbox') {
        if (field.required && !field.checked) field.click();
      } else if (field.type === 'radio') {
        if (!form.querySelector('input[type=radio]:checked[name="' + CSS.escape(field.name) + '"]')) field.click();
      } else if (!field.value && isText(field)) {
        try { put(field, guess(field)); } catch (error) { continue; }
        announce(field);
      }
    }
  };
  const mouse = (name, more) => send(el, new MouseEvent(name, {...at, ...more}));
  const finger = (name, x) => {
    const touch = new Touch({identifier: 1, target: el, clientX: x, clientY: at.clientY});
    const touches = name === 'touchend' ? [] : [touch];
    send(el, new TouchEvent(name, {...at, touches, targetTouches: touches, changedTouches: [touch]}));
  };
  const pointer = name => {
    send(el, new PointerEvent(name, {...at, bubbles: !/enter|leave/.test(name), pointerId: 1, isPrimary: true}));
  };
  const drag = (name, target, dataTransfer) => send(target, new DragEvent(name, {...at, dataTransfer}));
  if (type === 'click') {
    const form = el.form || null;
    if (form && (el.type === 'submit' || el.type === 'image')) fill(form);
    else if (!form && el.matches && el.matches('button, input[type=button], [role=button]')) fillNear();
    mouse('click', {button: 0});
  } else if (type === 'submit') {
    fill(el);
    el.requestSubmit();
  } else if (type === 'change' || type === 'input' || type === 'beforeinput') {
    if (el instanceof HTMLSelectElement) { el.selectedIndex = +value; announce(el); }
    else if (el.type === 'checkbox' || el.type === 'radio') { el.click(); }
    else if (type === 'beforeinput') {
      const text = {data: 'x', inputType: 'insertText'};
      send(el, new InputEvent(type, {bubbles: true, cancelable: true, composed: true, ...text}));
    } else { try { put(el, value); } catch (error) { /* a file field takes none */ } announce(el); }
  } else if (type.startsWith('key')) {
    if ('value' in el && !el.value && el.type !== 'submit' && el.type !== 'button') {
      try { put(el, 'test'); } catch (error) { /* not a field of text */ }
    }
    const held = {};
    while (/^\w+\+./.test(value)) { held[value.split('+')[0] + 'Key'] = true; value = value.replace(/^\w+\+/, ''); }
    const codes = {Enter: 13, Escape: 27, ' ': 32, Tab: 9, Backspace: 8, Delete: 46,
                   ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40};
    const keyCode = codes[value] || value.toUpperCase().charCodeAt(0);
    const code = value.length > 1 ? value : value === ' ' ? 'Space' : /[0-9]/.test(value) ? 'Digit' + value
      : 'Key' + value.toUpperCase();
    send(el, new KeyboardEvent(type, {...at, ...held, key: value, code, keyCode, which: keyCode}));
  } else if (type === 'focus' || type === 'focusin' || type === 'blur' || type === 'focusout') {
    let seen = false;
    el.addEventListener(type, () => { seen = true; }, {once: true, capture: true});
    el.focus();
    if (type === 'blur' || type === 'focusout') el.blur();
    const bubbles = type === 'focusin' || type === 'focusout';
    if (!seen) send(el, new FocusEvent(type, {bubbles, composed: true}));
  } else if (type === 'scroll') {
    const root = el === doc.documentElement || el === doc.body;
    if (value === 'up') { if (root) view.scrollBy(0, -view.innerHeight); else el.scrollTop = 0; return; }
    const before = root ? view.scrollY : el.scrollTop;
    if (root) view.scrollTo(0, doc.documentElement.scrollHeight); else el.scrollTop = el.scrollHeight;
    if ((root ? view.scrollY : el.scrollTop) === before) send(root ? doc : el, new Event('scroll', {bubbles: root}));
  } else if (type.startsWith('touch')) {
    if (type !== 'touchstart') finger('touchstart', at.clientX + 200);
    if (type === 'touchend') finger('touchmove', at.clientX);
    finger(type, at.clientX);
  } else if (type.startsWith('pointer')) {
    if (type === 'pointerup') pointer('pointerdown');
    pointer(type);
  } else if (type === 'contextmenu') { mouse(type, {button: 2, buttons: 2}); }
  else if (type === 'dblclick') { mouse(type, {detail: 2}); }
  else if (type === 'wheel') { send(el, new WheelEvent('wheel', {...at, deltaY: 120})); }
  else if (type === 'drop') {
    const data = new DataTransfer(), dragged = doc.querySelector('[draggable=true]');
    if (dragged) drag('dragstart', dragged, data);
    drag('dragenter', el, data);
    drag('dragover', el, data);
    drag('drop', el, data);
    if (dragged) drag('dragend', dragged, data);
  } else if (type.startsWith('drag')) { drag(type, el, new DataTransfer()); }
  else if (/^(copy|cut|paste)$/.test(type)) {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', 'test');
    send(el, new ClipboardEvent(type, {bubbles: true, cancelable: true, composed: true, clipboardData}));
  } else if (type.startsWith('mouse')) {
    if (type === 'mouseup') mouse('mousedown');
    mouse(type, {bubbles: !/enter|leave/.test(type)});
  } else if (type === 'reset' && el.reset) { el.reset(); }
  else { send(el, new Event(type, {bubbles: true, cancelable: true})); }
}
"""
"""Fires one event on ``this``.

`value`: the text, the key or the option's number; `values`: rows (type, word, text) for the fields of a form.
"""

TABLES = r"""
(() => {
  const all = document.getElementsByTagName('*'), rows = [], known = [], words = {};
  const source = f => { try { return Function.prototype.toString.call(f).slice(0, 2000); } catch (e) { return ''; } };
  const place = new Map();
  for (let i = 0; i < all.length; i++) place.set(all[i], i);
  const add = (i, type, library, f) => { if (rows.length < 20000) rows.push([i, type, library, source(f)]); };
  const own = Object.getOwnPropertyNames;
  const reactNames = {doubleclick: 'dblclick', mouseenter: 'mouseover', focus: 'focusin', blur: 'focusout',
                      pointerenter: 'pointerover'};
  const react = (i, props) => {
    for (const name in props || {}) {
      if (/^on[A-Z]/.test(name) && typeof props[name] === 'function') {
        const type = name.slice(2).replace(/Capture$/, '').toLowerCase();
        add(i, reactNames[type] || type, 'react', props[name]);
      }
    }
  };
  const jq = window.jQuery || (window.$ && window.$.fn && window.$.fn.jquery ? window.$ : null);
  const jquery = (node, i) => {
    let events = null;
    try { events = jq && jq._data ? jq._data(node, 'events') : null; } catch (e) { /* not this library after all */ }
    if (!events && jq && !jq._data && jq.data) {
      try { events = jq.data(node, 'events'); } catch (e) { /* likewise */ }
    }
    if (!events) {
      for (const name of own(node)) {
        if (/^jQuery\d+$/.test(name) && node[name] && typeof node[name] === 'object' && node[name].events) {
          events = node[name].events;
        }
      }
    }
    if (!events) return;
    for (const key in events) {
      const list = events[key];
      let direct = false;
      for (const h of Array.isArray(list) ? list : Object.values(list)) {
        if (!h || !h.handler) continue;
        if (!h.selector) { direct = true; if (i >= 0) add(i, key, 'jquery', h.handler); continue; }
        try {
          const within = jq && jq.find ? jq(node).find(h.selector).get() : node.querySelectorAll(h.selector);
          for (const hit of within) add(place.get(hit), key, 'jquery', h.handler);
        } catch (e) { /* a selector of the library's own */ }
      }
      if (!direct) known.push([i, key]);
    }
  };
  for (let i = 0; i < all.length; i++) {
    const el = all[i];
    for (const name of own(el)) {
      if (name.startsWith('__reactProps$') || name.startsWith('__reactEventHandlers$')) react(i, el[name]);
      else if (name.startsWith('__reactInternalInstance$') && el[name] && el[name]._currentElement) {
        react(i, el[name]._currentElement.props);
      } else if (/^(_reactListening|__reactContainer\$|_reactRootContainer)/.test(name)) {
        known.push([i, '*']);
      } else if (name.startsWith('$$') && typeof el[name] === 'function' && name.length > 4) {
        add(i, name.slice(2), 'solid', el[name]);
      } else if (name.startsWith('__') && (typeof el[name] === 'function' || Array.isArray(el[name]))
                 && ('on' + name.slice(2)) in el) {
        add(i, name.slice(2), 'svelte', Array.isArray(el[name]) ? el[name][0] : el[name]);
      } else if (name === '_reactRoot') known.push([i, '*']);
    }
    jquery(el, i);
  }
  jquery(document, -1);
  if (own(document).some(name => name.startsWith('_reactListen'))) known.push([-1, '*']);
  const strings = [];
  for (const name of Object.keys(window)) {
    let value = null;
    try { value = window[name]; } catch (e) { /* another origin's */ }
    const is = typeof value === 'string' && name !== 'origin' && value.length < 2000;
    if (is && /^(https?:\/\/|\.{0,2}\/)\S/.test(value)) strings.push(value);
  }
  return {rows: rows.filter(row => row[0] !== undefined), known, strings: strings.slice(0, 1000)};
})()
"""
"""Reads what frameworks attached.

Answers {rows: [[element's number in document order, type, library, source of the handler]], known: [[number,
type]], strings: the global variables that are addresses}: `known` are listeners that only hand events on to
the rows, -1 is the document, ``*`` every type.
"""
