// One line in the corner of JupyterLab while Python is on its way: nothing shows it otherwise.

const line = document.createElement("div");
line.setAttribute("role", "status");
line.style.cssText =
  "position:fixed;right:16px;bottom:32px;z-index:10000;padding:8px 14px;border-radius:10px;" +
  "font:13px/1.5 system-ui,sans-serif;background:#1f2430;color:#fff;display:none";

const CHINESE = navigator.language.startsWith("zh");

function words({ asked, came }) {
  const count = `${came} / ${asked}`;
  return CHINESE ? `正在载入 Python：${count} 个文件` : `Python is loading: ${count} files`;
}

new BroadcastChannel("minigrad-start").onmessage = ({ data }) => {
  if (!line.isConnected) {
    document.body.append(line);
  }
  line.textContent = words(data);
  line.style.display = data.ready ? "none" : "block";
};
