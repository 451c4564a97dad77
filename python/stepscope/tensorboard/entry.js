// TensorBoard runs this in the frame of the tab. The frame becomes stepscope's page as soon as that answers.
const PAGE = 'page/';

export async function render() {
  document.documentElement.style.colorScheme = 'light dark';
  document.body.style.cssText = 'margin: 48px auto; max-width: 640px; padding: 0 24px; font: 15px/1.5 system-ui, sans-serif';
  for (;;) {
    say('stepscope looks for recordings in the log folder …');
    const answer = await fetch(PAGE).catch(() => null);
    if (answer?.ok) return location.replace(PAGE);
    if (answer?.headers.has('Retry-After')) continue;
    const told = await answer?.json().catch(() => null);
    say(told?.error ?? 'TensorBoard does not answer.', told?.remedy ?? '');
    await again();
  }
}

function say(...sentences) {
  document.body.replaceChildren(...sentences.filter(Boolean).map((sentence) => {
    const line = document.createElement('p');
    line.setAttribute('role', 'status');
    line.textContent = sentence;
    return line;
  }));
}

function again() {
  const button = document.createElement('button');
  button.textContent = 'Try again';
  button.style.font = 'inherit';
  document.body.append(button);
  return new Promise((done) => { button.addEventListener('click', done, { once: true }); });
}
